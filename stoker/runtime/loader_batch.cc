#include "stoker/runtime/loader_batch.h"

#include <cstring>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {

LoaderBatch::LoaderBatch(const std::vector<OutputSpec>& outputs, int slots, Allocator& allocator,
                         const DeviceSide& side)
    : Batch(outputs, slots, side.device ? side.device->memory() : allocator), side_(side) {
  if (side.device) device_batch_.emplace(*side.plan, slots, *side.device, output(0).data);
}

LoaderBatch::~LoaderBatch() {
  if (event_) event_->wait_for_memory();
}

void LoaderBatch::start(int transfer_index) {
  if (event_) event_->wait_for_memory();
  event_ = nullptr;
  if (device_batch_) device_batch_->start(transfer_index);
}

void LoaderBatch::write(int slot, const SampleInput& input, CpuExecutor& executor) {
  if (device_batch_) return executor.run(input, *device_batch_, slot);
  MutableBytes bytes[kOutputsMax];
  for (std::size_t i = 0; i < outputs().size(); ++i) bytes[i] = slot_bytes(i, slot);
  executor.run(input, std::span(bytes, outputs().size()));
}

void LoaderBatch::write_zeros(int slot) {
  for (std::size_t i = 0; i < outputs().size(); ++i) {
    if (device_batch_ && !device_batch_->crosses_finished(i)) {
      device_batch_->put(i, slot, {});
      continue;
    }
    const MutableBytes bytes = device_batch_ ? device_batch_->finished(i, slot) : slot_bytes(i, slot);
    std::memset(bytes.data(), 0, bytes.size());
  }
}

void LoaderBatch::cross() {
  if (device_batch_) event_ = side_.device->submit(device_batch_->seal());
  ready_ns = event_ ? event_->done_ns() : now_ns();
}

bool LoaderBatch::wait_ready(std::int64_t patience_ns) {
  if (!event_) return true;
  if (!event_->wait_for(patience_ns)) return false;
  if (const std::optional<int> slot = device_batch_->faulty_slot()) {
    fail(ErrorKind::kIo,
         "sample '{}' was sound here, but {} found its coded data damaged: its memory or the way there is not to be "
         "trusted",
         key[static_cast<std::size_t>(*slot)], side_.device->name());
  }
  return true;
}

std::size_t loader_batch_bytes(const std::vector<OutputSpec>& outputs, int slots, const DeviceSide& side) {
  const std::size_t tensors = batch_bytes(outputs, slots);
  if (!side.device) return tensors;
  const DeviceBatchLayout layout(*side.plan, slots);
  const std::size_t staging = layout.staging + (layout.memory - layout.faults);
  return side.device->memory_is_host() ? tensors + layout.memory + staging : staging;
}

}  // namespace stoker
