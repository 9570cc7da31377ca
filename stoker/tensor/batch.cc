#include "stoker/tensor/batch.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
#include "stoker/base/units.h"
#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

// So far from overflowing that alignment and a few more outputs cannot.
constexpr std::size_t kBytesMax = std::size_t{1} << 60;

}  // namespace

std::vector<std::size_t> batch_offsets(const std::vector<OutputSpec>& outputs, int slots) {
  assert(slots >= 0);
  std::vector<std::size_t> offsets = {0};
  for (const OutputSpec& output : outputs) {
    const std::size_t bytes = output.arrangement->bytes_max(output, slots);
    if (bytes <= kBytesMax) offsets.push_back(offsets.back() + (bytes + 63) / 64 * 64);
    if (bytes > kBytesMax || offsets.back() > kBytesMax) {
      fail(ErrorKind::kLimit, "output '{}' of {} is larger than any memory; make it or the batch smaller", output.name,
           counted(slots, "sample"));
    }
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
  for (std::size_t i = 0; i < outputs_.size(); ++i) parts_.push_back(memory_.data() + offsets_[i]);
  set_size(slots);
}

Batch::Batch(std::vector<OutputSpec> outputs, int slots, BatchParts parts)
    : outputs_(std::move(outputs)), slots_max_(slots), owner_(std::move(parts.owner)), read_only_(parts.read_only) {
  set_size(slots);
  if (parts.outputs.size() != outputs_.size()) {
    fail(ErrorKind::kData, "{} for a batch of {}", counted(parts.outputs.size(), "part"),
         counted(outputs_.size(), "output"));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const MutableBytes part = parts.outputs[i];
    if (!outputs_[i].arrangement->may_be(outputs_[i], slots, part)) {
      fail(ErrorKind::kData, "{} cannot be the output '{}' of {}", counted(part.size(), "byte"), outputs_[i].name,
           counted(slots, "sample"));
    }
    parts_.push_back(part.data());
    used_[i] = part.size();
  }
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
  errors.clear();
  used_.clear();
  for (const OutputSpec& output : outputs_) used_.push_back(output.bytes_per_sample() * count);
}

void Batch::set_outputs(std::vector<OutputSpec> outputs) {
  assert(outputs.size() == outputs_.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    assert(outputs[i].arrangement->bytes_max(outputs[i], slots_max_) <= offsets_[i + 1] - offsets_[i]);
  }
  outputs_ = std::move(outputs);
}

std::vector<TensorView> Batch::tensors(std::size_t number) const {
  const OutputSpec& spec = outputs_[number];
  return spec.arrangement->tensors(spec, size_, part(number), used_[number]);
}

TensorView Batch::output(std::size_t number) const { return tensors(number).front(); }

TensorView Batch::output(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].name == name) return output(i);
    known += (known.empty() ? "" : ", ") + outputs_[i].name;
  }
  fail(ErrorKind::kNotFound, "the batch has no output '{}'; it has {}", name, known);
}

Bytes Batch::slot_bytes(std::size_t output, int slot, const std::uint8_t* bytes) const {
  return outputs_[output].arrangement->value(outputs_[output], size_, bytes, slot);
}

MutableBytes Batch::place(std::size_t output, int slot, const Shape& shape) {
  return outputs_[output].arrangement->place(outputs_[output], size_, part(output), slot, shape);
}

void Batch::pad(int slot) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].arrangement->pad(outputs_[i], size_, part(i), slot);
}

void Batch::seal() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    used_[i] = outputs_[i].arrangement->seal(outputs_[i], size_, part(i));
  }
}

Bytes Batch::host_bytes(std::size_t output, std::vector<std::uint8_t>&) const { return {part(output), used_[output]}; }

std::uint64_t Batch::random_seed(std::string_view name) const {
  return batch_random_seed(seed, epoch, position.empty() ? 0 : position.front(), name);
}

int Batch::valid_count() const { return static_cast<int>(std::count(status.begin(), status.end(), SlotStatus::kGood)); }

std::uint64_t batch_random_seed(std::uint64_t seed, std::int64_t epoch, std::int64_t position, std::string_view name) {
  Random random(seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(position),
                random_stream("batch", name, 0));
  const std::uint64_t high = random.next_u32() >> 1;
  return high << 32 | random.next_u32();
}

}  // namespace stoker
