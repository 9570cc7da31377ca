#include "stoker/tensor/batch.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t output_bytes(const OutputSpec& output, int slots) {
  return aligned(output.bytes_per_sample() * static_cast<std::size_t>(slots));
}

}  // namespace

std::size_t batch_bytes(const std::vector<OutputSpec>& outputs, int slots) {
  std::size_t total = 0;
  for (const OutputSpec& output : outputs) total += output_bytes(output, slots);
  return total;
}

Batch::Batch(std::vector<OutputSpec> outputs, int slots, Allocator& allocator)
    : outputs_(std::move(outputs)), size_(slots), memory_(allocator, batch_bytes(outputs_, slots)) {
  const auto count = static_cast<std::size_t>(slots);
  status.assign(count, SlotStatus::kPending);
  position.assign(count, 0);
  sample.assign(count, 0);
  key.assign(count, {});
  std::size_t offset = 0;
  for (const OutputSpec& output : outputs_) {
    offsets_.push_back(offset);
    offset += output_bytes(output, slots);
  }
}

TensorView Batch::output(std::size_t number) const {
  const OutputSpec& spec = outputs_[number];
  return {memory_.data() + offsets_[number], spec.dtype, spec.shape.with_outer(size_)};
}

TensorView Batch::output(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].name == name) return output(i);
    known += (known.empty() ? "" : ", ") + outputs_[i].name;
  }
  fail(ErrorKind::kNotFound, "the batch has no output '{}'; it has {}", name, known);
}

MutableBytes Batch::slot_bytes(std::size_t output, int slot) const {
  const std::size_t bytes = outputs_[output].bytes_per_sample();
  return {memory_.data() + offsets_[output] + bytes * static_cast<std::size_t>(slot), bytes};
}

int Batch::valid_count() const { return static_cast<int>(std::count(status.begin(), status.end(), SlotStatus::kGood)); }

}  // namespace stoker
