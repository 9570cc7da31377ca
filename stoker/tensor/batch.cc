#include "stoker/tensor/batch.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// So far from overflowing that alignment and a few more outputs cannot.
constexpr std::int64_t kBytesMax = std::int64_t{1} << 60;

[[noreturn]] void refuse(const OutputSpec& output, int slots) {
  fail(ErrorKind::kLimit, "output '{}' of {} is larger than any memory; make it or the batch smaller", output.name,
       counted(slots, "sample"));
}

std::size_t output_bytes(const OutputSpec& output, int slots) {
  assert(slots >= 0);
  std::int64_t bytes = static_cast<std::int64_t>(size_of(output.dtype));
  const Shape shape = output.shape.with_outer(slots);
  for (const std::int64_t extent : shape.extents()) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) refuse(output, slots);
  }
  if (bytes > kBytesMax) refuse(output, slots);
  return (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
}

}  // namespace

std::vector<std::size_t> batch_offsets(const std::vector<OutputSpec>& outputs, int slots) {
  std::vector<std::size_t> offsets = {0};
  for (const OutputSpec& output : outputs) {
    offsets.push_back(offsets.back() + output_bytes(output, slots));
    if (offsets.back() > static_cast<std::size_t>(kBytesMax)) refuse(output, slots);
  }
  return offsets;
}

std::size_t batch_bytes(const std::vector<OutputSpec>& outputs, int slots) {
  return batch_offsets(outputs, slots).back();
}

Batch::Batch(std::vector<OutputSpec> outputs, int slots, Allocator& allocator)
    : outputs_(std::move(outputs)),
      offsets_(batch_offsets(outputs_, slots)),
      slots_max_(slots),
      memory_(allocator, offsets_.back()) {
  set_size(slots);
}

void Batch::set_size(int slots) {
  assert(slots >= 0 && slots <= slots_max_);
  size_ = slots;
  const auto count = static_cast<std::size_t>(slots);
  status.assign(count, SlotStatus::kPending);
  position.resize(count);
  sample.resize(count);
  key.resize(count);
  substituted_for.resize(count);
  substituted_key.resize(count);
}

TensorView Batch::output(std::size_t number) const {
  const OutputSpec& spec = outputs_[number];
  return {memory_.data() + offsets_[number], spec.dtype, spec.shape.with_outer(size_), spec.layout};
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

Bytes Batch::host_bytes(std::size_t output, std::vector<std::uint8_t>&) const {
  const TensorView view = this->output(output);
  return {view.data, view.bytes()};
}

int Batch::valid_count() const { return static_cast<int>(std::count(status.begin(), status.end(), SlotStatus::kGood)); }

}  // namespace stoker
