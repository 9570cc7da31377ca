#include "stoker/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <mutex>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/units.h"
#include "stoker/device/cuda/cuda_check.h"
#include "stoker/device/cuda/cuda_event.h"
#include "stoker/device/cuda/cuda_memory.h"
#include "stoker/device/cuda/kernels.h"
#include "stoker/device/cuda/nvjpeg_decoder.h"

namespace stoker {
namespace {

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int gpu) : context_(std::make_shared<GpuContext>(gpu)) {
    const OnGpu on(*context_);
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), name_);
    memory_bytes_ = total;
    check_cuda(load_gpu_kernels(), name_);
  }
  ~CudaDevice() override {
    quietly_on_gpu(*context_, [&] {
      cudaStreamSynchronize(kernels_);
      nvjpeg_.reset();
    });
  }

  const std::string& name() const override { return name_; }
  bool computes() const override { return true; }
  std::string caveat() const override { return {}; }
  bool memory_is_host() const override { return false; }
  std::uint64_t memory_bytes() const override { return memory_bytes_; }
  int gpu() const override { return context_->gpu(); }
  std::string bus_id() const override {
    char text[32];
    if (cudaDeviceGetPCIBusId(text, sizeof(text), gpu()) == cudaSuccess) return text;
    cudaGetLastError();  // it is not an error here
    return {};
  }
  Allocator& staging() override { return staging_; }
  Allocator& memory() override { return memory_; }

  void open_nvjpeg() override {
    const OnGpu on(*context_);
    const std::lock_guard lock(mutex_);
    if (!nvjpeg_) nvjpeg_ = std::make_unique<NvjpegDecoder>(*context_);
  }

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>> after) override {
    const OnGpu on(*context_);
    auto event = std::make_shared<CudaTaskEvent>(context_);
    const std::lock_guard lock(mutex_);
    try {
      give(task, after, *event);
    } catch (...) {  // what the streams have of it uses memory that the caller takes back now
      cudaStreamSynchronize(copies_);
      cudaStreamSynchronize(kernels_);
      cudaGetLastError();
      throw;
    }
    return event;
  }

  void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) override {
    const OnGpu on(*context_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, notices_), name_);
    check_cuda(cudaStreamSynchronize(notices_), name_);
  }

  void make_wait(DeviceStream stream, const DeviceEvent& task) override {
    const OnGpu on(*context_);
    check_cuda(cudaStreamWaitEvent(handle_of(stream), static_cast<const CudaTaskEvent&>(task).done), name_);
  }

  std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept override {
    return mark_stream(context_, stream);
  }

 private:
  void give(const DeviceTask& task, std::span<const std::shared_ptr<const StreamMark>> after, CudaTaskEvent& event) {
    for (const auto& mark : after) {
      check_cuda(cudaStreamWaitEvent(copies_, static_cast<const CudaStreamMark&>(*mark).event), name_);
    }
    // Copies of the next batch go beside the kernels of this one.
    for (const DeviceCopy& in : task.copies_in) {
      check_cuda(in.from ? cudaMemcpyAsync(in.to, in.from, in.bytes, cudaMemcpyHostToDevice, copies_)
                         : cudaMemsetAsync(in.to, 0, in.bytes, copies_),
                 name_);
    }
    check_cuda(cudaEventRecord(event.copied, copies_), name_);
    check_cuda(cudaStreamWaitEvent(kernels_, event.copied), name_);
    task.in_order(
        [&](const DeviceDecode& decode) {
          event.begin_stage(kDeviceDecodeRun, kernels_);
          decode_file(decode);
        },
        [&](const DeviceLaunch& launch) {
          event.begin_stage(stage_run_of(launch), kernels_);
          check_cuda(launch_on_gpu(launch, kernels_), name_);
        });
    event.end_stages(kernels_);
    for (const DeviceCopy& out : task.copies_out) {
      check_cuda(cudaMemcpyAsync(out.to, out.from, out.bytes, cudaMemcpyDeviceToHost, kernels_), name_);
    }
    check_cuda(cudaEventRecord(event.done, kernels_), name_);
    event.tell_host(notices_);
  }

  void decode_file(const DeviceDecode& decode) {
    if (nvjpeg_->decode(decode, kernels_)) return;
    check_cuda(cudaMemsetAsync(decode.fault, 1, sizeof(*decode.fault), kernels_), name_);
  }

  const std::shared_ptr<const GpuContext> context_;
  const std::string& name_ = context_->name();
  std::uint64_t memory_bytes_ = 0;
  PinnedAllocator staging_{*context_};
  GpuAllocator memory_{*context_};
  std::mutex mutex_;                       // a task's parts are not mixed with another's
  std::unique_ptr<NvjpegDecoder> nvjpeg_;  // if it was asked for; guarded by the mutex
  const GpuStream copies_{*context_}, kernels_{*context_}, notices_{*context_};
};

}  // namespace

std::shared_ptr<Device> open_cuda_device(std::string_view ordinal) {
  const int number = parse_number<int>(ordinal).value_or(-1);
  if (number < 0) fail(ErrorKind::kUsage, "'cuda:{}' is not a GPU; GPUs are numbered: cuda:0", ordinal);
  const std::string name = fmt::format("cuda:{}", number);
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), name);
  if (number >= count) fail(ErrorKind::kNotFound, "{}: this machine has {}", name, counted(count, "GPU"));
  return std::make_shared<CudaDevice>(number);
}

}  // namespace stoker
