#include "stoker/plan/sample_executor.h"

#include <cassert>
#include <cstring>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/plan/field_array.h"
#include "stoker/plan/field_text.h"
#include "stoker/plan/field_tokens.h"
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

void write_digest(Bytes field, MutableBytes out) {
  assert(out.size() == FieldDigest::kNumbers * sizeof(std::uint64_t));
  store_little_endian(out.data(), std::uint64_t{field.size()});
  store_little_endian(out.data() + sizeof(std::uint64_t), hash64(field));
}

// The rows of a sample that is alone, as many as a batch would have.
void pad_rows(const RowPadding& padding, SampleOutput& output) {
  check_rows(padding, output.spec.shape[0]);
  const std::size_t before = output.bytes.size();
  Shape shape{padding.rows};
  for (std::size_t axis = 1; axis < output.spec.shape.rank(); ++axis) shape.append(output.spec.shape[axis]);
  output.spec.shape = shape;
  output.bytes.resize(output.spec.bytes_per_sample());
  if (output.bytes.size() > before)
    fill_elements(output.spec.dtype, padding.fill, std::span(output.bytes).subspan(before));
}

}  // namespace

std::vector<SampleOutput> run_one(SampleExecutor& executor, const SampleInput& sample) {
  const std::vector<ViewPlan>& views = executor.plan().views();
  std::vector<SampleOutput> outputs(views.size());
  const auto place = [&](std::size_t output, const Shape& shape) -> MutableBytes {
    SampleOutput& made = outputs[output];
    made.spec = Plan::output_of(views[output], shape);
    made.bytes.resize(made.spec.bytes_per_sample());
    return made.bytes;
  };
  executor.run(sample, place);
  // A batch of one.
  executor.run_batch({.slots = 1,
                      .draw = sample.draw,
                      .kept = [&](std::size_t view) { return Bytes(outputs[view].bytes); },
                      .given = [&](std::size_t output) { return place(output, views[output].given.shape).data(); }});
  outputs.resize(executor.plan().output_count());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (views[i].row_padding) pad_rows(*views[i].row_padding, outputs[i]);
  }
  return outputs;
}

namespace {

void write_number(const ViewPlan& view, const SampleInput& sample, MutableBytes out) {
  if (view.kind == ViewKind::kShare) {
    constexpr float kWhole = 1;
    std::memcpy(out.data(), &kWhole, sizeof(kWhole));
    return;
  }
  if (view.kind == ViewKind::kDigest) return write_digest(sample.fields[static_cast<std::size_t>(view.field)], out);
  if (view.one_hot.classes == 0) return write_plain_number(view, sample, out);
  std::int64_t number = 0;
  write_plain_number(view, sample, MutableBytes(reinterpret_cast<std::uint8_t*>(&number), sizeof(number)));
  write_one_hot(number, view.one_hot, out);
}

}  // namespace

void write_plain(const ViewPlan& view, const SampleInput& sample,
                 const std::function<MutableBytes(const Shape& shape)>& place) {
  if (view.kind == ViewKind::kTokens) {
    write_field_tokens(sample.fields[static_cast<std::size_t>(view.field)], view.tokens, sample.draw,
                       place(Plan::number_shape_of(view)));
  } else if (view.kind == ViewKind::kArray) {
    write_field_array(view.array, view.field, sample, place);
  } else if (view.kind == ViewKind::kText) {
    write_field_text(sample.fields[static_cast<std::size_t>(view.field)], view.text, place);
  } else {
    write_number(view, sample, place(Plan::number_shape_of(view)));
  }
}

}  // namespace stoker
