// A batch while a loader makes it: its slots are written where they will stay, or handed over to a device.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/device/pinned_host.h"
#include "stoker/plan/batch_mixer.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/kept_values.h"
#include "stoker/runtime/report/batch_times.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// What does the stages after the transfer index: nothing, or a device; what memory is pinned for, if the consumer
/// copies to a GPU; and what mixes samples. All of it outlives the batches.
struct DeviceSide {
  Device* device = nullptr;
  const Plan* plan = nullptr;
  std::size_t image_bytes = 0;  // coded, on average
  bool nvjpeg = false;          // which the device has opened
  PinnedHost* pinned = nullptr;
  const BatchMixer* mixer = nullptr;  // of batches whose samples are mixed
};

/// Outputs of a recipe.
constexpr std::size_t kOutputsMax = 64;

/// Workers write distinct slots at the same time; everything else is for one thread, but for what Batch says.
class LoaderBatch final : public Batch {
 public:
  /// `allocator` is for the tensors where the side has none for them. Throws kMemory.
  LoaderBatch(const std::vector<OutputSpec>& outputs, int slots, Allocator& allocator, const DeviceSide& side);
  ~LoaderBatch() override;

  int gpu() const override { return side_.device ? side_.device->gpu() : -1; }
  void wait() const override;
  void wait_on(DeviceStream stream) const override;
  void record_stream(DeviceStream stream) const override;
  std::int64_t ready_ns() const override { return event_ ? event_->done_ns() : written_ns; }
  Bytes host_bytes(std::size_t number, std::vector<std::uint8_t>& room) const override;

  /// The outputs of the batch that start() begins next, where a recipe's batches have several sizes.
  void set_outputs(std::vector<OutputSpec> outputs);

  /// Begins anew. What the device was doing with it, and copies that the consumer's streams make, have an end first.
  /// So many slots, at most as many as it was made with.
  void start(int transfer_index, int slots);

  /// Throws what executors throw; the slot may be written again then.
  void write(int slot, const SampleInput& input, CpuExecutor& executor);
  /// No sample stands there.
  void write_padding(int slot);

  /// Mixes the samples of these slots, whole blocks (BatchMixer), once they are written and their status stands. Images
  /// that the device finishes are mixed there. Blocks may be mixed at the same time, while others are written.
  void mix(int first, int count) noexcept;

  /// Calls the functions of whole batches, once all slots are written, mixed, and their status stands. Throws what
  /// CpuExecutor::run_batch() does.
  void call_functions(const SampleDraw& draw, CpuExecutor& executor);

  /// All slots are written. Returns at once; the device, if there is one, goes on with it.
  void cross();
  bool crossed() const { return event_ != nullptr; }
  std::uint64_t bytes_to_device() const { return device_batch_ ? device_batch_->bytes_to_device() : 0; }
  /// Waits until the device is done with it, `patience_ns` at most; whether it is. Throws kIo, naming the sample, if
  /// the device found one to be damaged that was not here.
  bool wait_ready(std::int64_t patience_ns);
  /// How long the device's kernels took, by stage, once it is done.
  StageTimes device_ns() const { return event_ ? event_->stages_ns() : StageTimes{}; }
  /// The consumer has released it, and gives its streams no more work that uses it.
  void release() noexcept;
  /// How long a stream of a GPU took from taking it to releasing it, the last time, if that can be told by now.
  std::optional<std::int64_t> step_ns() const;

  /// The device's work on it has ended, and the loader knows how. It must before it starts the batch anew.
  bool device_done = true;
  /// Of the batch that it is, once it is delivered.
  BatchTimes times;

 private:
  void pad_given(const FunctionPlan& function);
  // Where the values of an output are that is finished here.
  std::uint8_t* written_here(std::size_t output) {
    return device_batch_ ? device_batch_->finished(output) : part(output);
  }

  const DeviceSide side_;
  std::optional<DeviceBatch> device_batch_;
  std::optional<KeptValues> kept_;  // for functions of whole batches
  std::vector<MixDraw> mixes_;
  std::shared_ptr<DeviceEvent> event_;
  // Guarded by the mutex until the batch is released.
  mutable std::mutex streams_mutex_;
  mutable std::vector<DeviceStream> streams_;                     // that took it
  mutable std::vector<std::shared_ptr<const StreamMark>> marks_;  // of those, at the release; as much room
  mutable std::shared_ptr<const StreamMark> taken_;               // of the first of them that waited for it
  std::shared_ptr<const StreamMark> left_;                        // the same, at the release
};

/// What a batch takes, in bytes.
struct LoaderBatchBytes {
  std::size_t host = 0;
  std::size_t device = 0;  // which is of the host's, too, where the device is emulated
};
LoaderBatchBytes loader_batch_bytes(const std::vector<OutputSpec>& outputs, int slots, const DeviceSide& side);
/// What all batches of so many slots share.
LoaderBatchBytes shared_batch_bytes(int slots, const DeviceSide& side);

}  // namespace stoker
