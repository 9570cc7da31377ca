#include "stoker/runtime/board/loader_batch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/tensor/arrangement.h"

namespace stoker {

LoaderBatch::LoaderBatch(const std::vector<OutputSpec>& outputs, int slots, Allocator& allocator,
                         const DeviceSide& side)
    : Batch(outputs, slots,
            side.device   ? side.device->memory()
            : side.pinned ? side.pinned->memory()
                          : allocator),
      side_(side),
      mixes_(side.mixer ? side.mixer->draws() : 0) {
  if (side.plan && !side.plan->kept_views().empty()) kept_.emplace(*side.plan, slots);
  if (side.device) {
    device_batch_.emplace(*side.plan, slots, side.image_bytes, *side.device, part(0), side.nvjpeg);
  }
}

LoaderBatch::~LoaderBatch() {
  for (const auto& mark : marks_) mark->wait();
  if (event_) event_->wait_for_memory();
}

void LoaderBatch::set_outputs(std::vector<OutputSpec> outputs) {
  if (device_batch_) device_batch_->set_outputs(outputs);
  Batch::set_outputs(std::move(outputs));
}

void LoaderBatch::start(int transfer_index, int slots) {
  if (!side_.device) {
    for (const auto& mark : marks_) mark->wait();
    marks_.clear();
  }
  if (side_.pinned) record_stream(kDefaultStream);  // in which consumers copy that name none
  if (event_) event_->wait_for_memory();
  event_ = nullptr;
  set_size(slots);
  if (device_batch_) device_batch_->start(transfer_index, slots);
}

void LoaderBatch::write(int slot, const SampleInput& input, CpuExecutor& executor) {
  if (device_batch_) {
    return executor.run(input, *device_batch_, slot,
                        [this, slot](std::size_t view, const Shape& /*shape*/) { return kept_->place(view, slot); });
  }
  executor.run(input, [this, slot](std::size_t view, const Shape& shape) {
    return view < outputs().size() ? place(view, slot, shape) : kept_->place(view, slot);
  });
}

void LoaderBatch::write_padding(int slot) {
  device_batch_ ? device_batch_->pad(slot) : pad(slot);
  if (kept_) kept_->pad(slot);
}

void LoaderBatch::call_functions(const SampleDraw& draw, CpuExecutor& executor) {
  executor.run_batch({.slots = size(),
                      .draw = draw,
                      .kept = [this](std::size_t view) { return kept_->first(view, size()); },
                      .given = [this](std::size_t output) { return written_here(output); }});
  for (const FunctionPlan& function : side_.plan->functions()) {
    if (function.spec.whole_batch) pad_given(function);
  }
}

// Whatever it gave for slots without a sample.
void LoaderBatch::pad_given(const FunctionPlan& function) {
  for (const std::size_t output : function.gives) {
    const OutputSpec& spec = outputs()[output];
    for (int slot = 0; slot < size(); ++slot) {
      if (!valid(slot)) spec.arrangement->pad(spec, size(), written_here(output), slot);
    }
  }
}

void LoaderBatch::mix(int first, int count) noexcept {
  std::array<std::uint8_t*, kOutputsMax> views{};
  for (std::size_t view = 0; view < outputs().size(); ++view) {
    views[view] = written_here(view);
  }
  side_.mixer->mix(*this, first, count, mixes_, views);
}

void LoaderBatch::cross() {
  if (device_batch_) {
    event_ = side_.device->submit(device_batch_->seal({side_.mixer, this, mixes_}), marks_);
    used_ = device_batch_->used();
  }
  marks_.clear();
  taken_ = left_ = nullptr;
}

bool LoaderBatch::wait_ready(std::int64_t patience_ns) {
  if (!event_) return true;
  if (!event_->wait_for(patience_ns)) return false;
  if (const std::optional<int> slot = device_batch_->faulty_slot()) {
    fail(ErrorKind::kIo,
         "sample '{}' was sound on the host, but {} found its coded data damaged: the device's memory or the copy to "
         "it may be faulty",
         key[static_cast<std::size_t>(*slot)], side_.device->name());
  }
  if (const std::optional<int> slot = device_batch_->refused_slot()) {
    fail(ErrorKind::kData,
         "sample '{}' is a JPEG that nvJPEG on {} cannot decode: it is damaged, or of a kind that nvJPEG does not "
         "support; leave nvjpeg out, and the host decodes it or says what is wrong with it",
         key[static_cast<std::size_t>(*slot)], side_.device->name());
  }
  return true;
}

// --- the consumer and its streams

Bytes LoaderBatch::host_bytes(std::size_t number, std::vector<std::uint8_t>& room) const {
  wait();
  if (!side_.device || side_.device->memory_is_host()) return Batch::host_bytes(number, room);
  room.resize(used_[number]);
  side_.device->fetch(room.data(), part(number), room.size());
  return room;
}

void LoaderBatch::wait() const {
  constexpr std::int64_t kPatienceNs = 1'000'000'000;
  while (event_ && !event_->wait_for(kPatienceNs)) continue;
}

void LoaderBatch::wait_on(DeviceStream stream) const {
  if (event_) side_.device->make_wait(stream, *event_);
  record_stream(stream);
  if (!event_) return;
  const std::lock_guard lock(streams_mutex_);
  if (!taken_ && streams_.front() == stream) taken_ = side_.device->mark(stream);
}

std::optional<std::int64_t> LoaderBatch::step_ns() const {
  return taken_ && left_ ? left_->ns_since(*taken_) : std::nullopt;
}

void LoaderBatch::record_stream(DeviceStream stream) const {
  if (!side_.device && !side_.pinned) return;  // nothing that was given to a stream still reads it
  const std::lock_guard lock(streams_mutex_);
  if (std::find(streams_.begin(), streams_.end(), stream) != streams_.end()) return;
  marks_.reserve(streams_.size() + 1);  // release() may not throw
  streams_.push_back(stream);
}

void LoaderBatch::release() noexcept {
  const std::lock_guard lock(streams_mutex_);
  for (const DeviceStream stream : streams_) {
    auto mark = side_.device ? side_.device->mark(stream) : side_.pinned->mark(stream);
    if (mark && stream == streams_.front()) left_ = mark;
    if (mark) marks_.push_back(std::move(mark));
  }
  streams_.clear();
}

LoaderBatchBytes loader_batch_bytes(const std::vector<OutputSpec>& outputs, int slots, const DeviceSide& side) {
  const std::size_t tensors = batch_bytes(outputs, slots);
  std::size_t functions = 0;
  if (side.plan && !side.plan->kept_views().empty()) {
    // What is kept; in the memory that processes share, that again and the outputs.
    functions = 2 * KeptValues::bytes(*side.plan, slots) + tensors;
  }
  if (!side.device) return {.host = tensors + functions};
  const DeviceBatchLayout layout(*side.plan, slots, side.image_bytes, side.nvjpeg);
  const std::size_t device = tensors + layout.memory;
  return {.host = functions + layout.fault_words_end + (side.device->memory_is_host() ? device : 0), .device = device};
}

LoaderBatchBytes shared_batch_bytes(int slots, const DeviceSide& side) {
  if (!side.device) return {};
  const std::size_t scratch = DeviceBatchLayout(*side.plan, slots, side.image_bytes, side.nvjpeg).scratch;
  return {.host = side.device->memory_is_host() ? scratch : 0, .device = scratch};
}

}  // namespace stoker
