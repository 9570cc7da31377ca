#include "stoker/plan/sample_executor.h"

#include <cassert>
#include <cstring>

#include "stoker/plan/json_number_reader.h"

namespace stoker {
namespace {

void write_plain_number(const ViewPlan& view, const SampleInput& sample, MutableBytes out) {
  if (view.kind == ViewKind::kNumber) {
    write_json_number(sample.fields[static_cast<std::size_t>(view.field)], view.number, out);
    return;
  }
  assert(out.size() == sizeof(sample.label));
  std::memcpy(out.data(), &sample.label, sizeof(sample.label));
}

}  // namespace

std::vector<SampleOutput> run_one(SampleExecutor& executor, const SampleInput& sample) {
  const std::vector<ViewPlan>& views = executor.plan().views();
  std::vector<SampleOutput> outputs(views.size());
  executor.run(sample, [&](std::size_t output, const Shape& shape) -> MutableBytes {
    SampleOutput& made = outputs[output];
    made.spec = Plan::output_of(views[output], shape);
    made.bytes.resize(made.spec.bytes_per_sample());
    return made.bytes;
  });
  return outputs;
}

void write_number(const ViewPlan& view, const SampleInput& sample, MutableBytes out) {
  if (view.kind == ViewKind::kShare) {
    constexpr float kWhole = 1;
    std::memcpy(out.data(), &kWhole, sizeof(kWhole));
    return;
  }
  if (view.one_hot.classes == 0) return write_plain_number(view, sample, out);
  std::int64_t number = 0;
  write_plain_number(view, sample, MutableBytes(reinterpret_cast<std::uint8_t*>(&number), sizeof(number)));
  write_one_hot(number, view.one_hot, out);
}

}  // namespace stoker
