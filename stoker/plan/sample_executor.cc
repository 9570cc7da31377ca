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

void write_padding(const OutputSpec& output, MutableBytes out) {
  assert(out.size() == output.bytes_per_sample());
  constexpr auto kFloat = static_cast<float>(kPaddingNumber);
  if (output.is_image()) {
    std::memset(out.data(), 0, out.size());
  } else if (output.dtype == DType::kF32) {
    std::memcpy(out.data(), &kFloat, sizeof(kFloat));
  } else {
    assert(output.dtype == DType::kI64);
    std::memcpy(out.data(), &kPaddingNumber, sizeof(kPaddingNumber));
  }
}

}  // namespace stoker
