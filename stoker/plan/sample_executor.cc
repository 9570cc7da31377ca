#include "stoker/plan/sample_executor.h"

#include <cassert>
#include <cstring>

#include "stoker/plan/json_number_reader.h"

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

void write_scalar(const ViewPlan& view, const SampleInput& sample, MutableBytes out) {
  if (view.kind == ViewKind::kNumber) {
    write_json_number(sample.fields[static_cast<std::size_t>(view.field)], view.number, out);
    return;
  }
  assert(out.size() == sizeof(sample.label));
  std::memcpy(out.data(), &sample.label, sizeof(sample.label));
}

}  // namespace stoker
