// A batch while a loader makes it: its slots are written where they will stay, or handed over to a device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// Who does what behind the transfer index: nobody, or a device. Both outlive the batches.
struct DeviceSide {
  Device* device = nullptr;
  const Plan* plan = nullptr;
};

/// Outputs of a recipe.
constexpr std::size_t kOutputsMax = 16;

/// Workers write distinct slots at the same time; everything else is for one thread.
class LoaderBatch final : public Batch {
 public:
  /// `allocator` is for the tensors where there is no device. Throws kMemory.
  LoaderBatch(const std::vector<OutputSpec>& outputs, int slots, Allocator& allocator, const DeviceSide& side);
  ~LoaderBatch();

  /// Begins anew. What the device was doing with it has an end first.
  void start(int transfer_index);

  /// Throws what executors throw; the slot may be written again then.
  void write(int slot, const SampleInput& input, CpuExecutor& executor);
  void write_zeros(int slot);

  /// All slots are written. Returns at once; the device, if there is one, goes on with it.
  void cross();
  std::int64_t device_ns() const { return event_ ? event_->busy_ns() : 0; }
  std::uint64_t bytes_to_device() const { return device_batch_ ? device_batch_->bytes_to_device() : 0; }
  /// Waits until the tensors are there, `patience_ns` at most; whether they are. Throws kIo, naming the sample, if a
  /// device found one to be damaged that was not here.
  bool wait_ready(std::int64_t patience_ns);

 private:
  const DeviceSide side_;
  std::optional<DeviceBatch> device_batch_;
  std::shared_ptr<DeviceEvent> event_;
};

/// What a batch takes of the host's memory.
std::size_t loader_batch_bytes(const std::vector<OutputSpec>& outputs, int slots, const DeviceSide& side);

}  // namespace stoker
