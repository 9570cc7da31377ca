#include "stoker/plan/sample_executor.h"

#include <cassert>
#include <cstring>

namespace stoker {

std::vector<SampleOutput> run_one(SampleExecutor& executor, const SampleInput& sample) {
  std::vector<SampleOutput> outputs;
  std::vector<MutableBytes> places;
  for (OutputSpec& spec : executor.shapes(sample)) {
    const std::size_t bytes = spec.bytes_per_sample();
    outputs.push_back({std::move(spec), std::vector<std::uint8_t>(bytes)});
  }
  places.reserve(outputs.size());
  for (SampleOutput& output : outputs) places.emplace_back(output.bytes);
  executor.run(sample, places);
  return outputs;
}

void write_label(std::int64_t label, MutableBytes out) {
  assert(out.size() == sizeof(label));
  std::memcpy(out.data(), &label, sizeof(label));
}

}  // namespace stoker
