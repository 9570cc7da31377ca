#include "stoker/device/cuda/cuda_device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <atomic>
#include <charconv>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/device/cuda/kernels.h"

namespace stoker {
namespace {

std::string driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "none";
  return fmt::format("one for CUDA {}.{}", version / 1000, version % 1000 / 10);
}

// What a person can do about it.
[[noreturn]] void fail_with(cudaError_t error, std::string_view what) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      fail(ErrorKind::kMemory, "{}: the GPU has no memory left; use a smaller batch or prefetch", what);
    case cudaErrorNoDevice: fail(ErrorKind::kNotFound, "{}: this machine has no GPU that CUDA can use", what);
    case cudaErrorInsufficientDriver:
      fail(ErrorKind::kNotFound, "{}: it needs a driver for CUDA {}.{} or newer, and there is {}", what,
           CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, driver_version());
    case cudaErrorNoKernelImageForDevice:
      fail(ErrorKind::kNotFound,
           "{}: this program was built without kernels for this GPU; build it for its architecture", what);
    default: fail(ErrorKind::kIo, "{}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error));
  }
}

void check(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess) fail_with(error, what);
}

// Of whichever GPU the calling thread works with afterwards, too: the one that it worked with before.
class OnDevice {
 public:
  OnDevice(int ordinal, std::string_view what) {
    check(cudaGetDevice(&before_), what);
    if (before_ != ordinal) check(cudaSetDevice(ordinal), what);
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// Pinned, so that copies need no detour; where the machine refuses that, plain.
class PinnedAllocator final : public Allocator {
 public:
  PinnedAllocator(int ordinal, const std::string& name) : ordinal_(ordinal), name_(name) {}

  std::uint8_t* allocate(std::size_t bytes) override {
    if (!refused_) {
      const OnDevice on(ordinal_, name_);
      void* memory = nullptr;
      if (cudaHostAlloc(&memory, bytes, cudaHostAllocDefault) == cudaSuccess) {
        return static_cast<std::uint8_t*>(memory);
      }
      cudaGetLastError();  // or the next call would report it
      refused_ = true;
      log(LogLevel::kWarning,
          "{}: the machine pins no {} of memory, so that copies to the GPU are slower and do not overlap", name_,
          format_size(static_cast<double>(bytes)));
    }
    return host_allocator().allocate(bytes);
  }

  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess && attributes.type == cudaMemoryTypeHost) {
      cudaFreeHost(memory);
    } else {
      host_allocator().deallocate(memory, bytes);
    }
  }

 private:
  const int ordinal_;
  const std::string& name_;
  std::atomic<bool> refused_{false};
};

class GpuAllocator final : public Allocator {
 public:
  GpuAllocator(int ordinal, const std::string& name) : ordinal_(ordinal), name_(name) {}

  std::uint8_t* allocate(std::size_t bytes) override {
    const OnDevice on(ordinal_, name_);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), name_);
    return static_cast<std::uint8_t*>(memory);
  }
  void deallocate(std::uint8_t* memory, std::size_t) noexcept override { cudaFree(memory); }

 private:
  const int ordinal_;
  const std::string& name_;
};

class Stream {
 public:
  explicit Stream(std::string_view what) {
    // Not one that waits for the default stream, which is the consumer's.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), what);
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event(unsigned flags, std::string_view what) { check(cudaEventCreateWithFlags(&event_, flags), what); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaEvent final : public DeviceEvent {
 public:
  CudaEvent(int ordinal, const std::string& name)
      : ordinal_(ordinal),
        name_(name),
        copied(cudaEventDisableTiming, name),
        kernels_begin(cudaEventDefault, name),
        kernels_end(cudaEventBlockingSync, name),
        done(cudaEventBlockingSync | cudaEventDisableTiming, name) {}

  // What was handed over has an end that is near: however little patience there is, it is waited for.
  bool wait_for(std::int64_t) const override {
    const OnDevice on(ordinal_, name_);
    check(cudaEventSynchronize(done), name_);
    std::int64_t unknown = 0;
    done_ns_.compare_exchange_strong(unknown, now_ns());
    return true;
  }
  void wait_for_memory() const override {
    cudaEventSynchronize(done);  // what went wrong is told by wait_for()
  }
  std::int64_t done_ns() const override {
    const std::int64_t known = done_ns_;
    return known != 0 ? known : now_ns();
  }
  std::int64_t busy_ns() const override {
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, kernels_begin, kernels_end) != cudaSuccess) return 0;
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  }

 private:
  const int ordinal_;
  const std::string name_;
  mutable std::atomic<std::int64_t> done_ns_{0};

 public:
  const Event copied, kernels_begin, kernels_end, done;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : name_(fmt::format("cuda:{}", ordinal)), ordinal_(ordinal) {
    const OnDevice on(ordinal, name_);
    copies_.emplace(name_);
    kernels_.emplace(name_);
  }
  ~CudaDevice() override {
    cudaStreamSynchronize(*copies_);
    cudaStreamSynchronize(*kernels_);
  }

  const std::string& name() const override { return name_; }
  bool computes() const override { return true; }
  std::string caveat() const override { return {}; }
  bool memory_is_host() const override { return false; }
  std::string bus_id() const override {
    char text[32];
    if (cudaDeviceGetPCIBusId(text, sizeof(text), ordinal_) == cudaSuccess) return text;
    cudaGetLastError();  // nobody needs to know it
    return {};
  }
  Allocator& staging() override { return staging_; }
  Allocator& memory() override { return memory_; }

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task) override {
    const OnDevice on(ordinal_, name_);
    auto event = std::make_shared<CudaEvent>(ordinal_, name_);
    // Copies of the next batch go beside the kernels of this one.
    for (const DeviceCopy& in : task.copies_in) {
      check(in.from ? cudaMemcpyAsync(in.to, in.from, in.bytes, cudaMemcpyHostToDevice, *copies_)
                    : cudaMemsetAsync(in.to, 0, in.bytes, *copies_),
            name_);
    }
    check(cudaEventRecord(event->copied, *copies_), name_);
    check(cudaStreamWaitEvent(*kernels_, event->copied), name_);
    check(cudaEventRecord(event->kernels_begin, *kernels_), name_);
    for (const DeviceLaunch& launch : task.launches) check(launch_on_gpu(launch, *kernels_), name_);
    check(cudaEventRecord(event->kernels_end, *kernels_), name_);
    for (const DeviceCopy& out : task.copies_out) {
      check(cudaMemcpyAsync(out.to, out.from, out.bytes, cudaMemcpyDeviceToHost, *kernels_), name_);
    }
    check(cudaEventRecord(event->done, *kernels_), name_);
    return event;
  }

 private:
  const std::string name_;
  const int ordinal_;
  PinnedAllocator staging_{ordinal_, name_};
  GpuAllocator memory_{ordinal_, name_};
  std::optional<Stream> copies_, kernels_;
};

}  // namespace

std::shared_ptr<Device> open_cuda_device(std::string_view ordinal) {
  int number = -1;
  const auto [end, error] = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), number);
  if (error != std::errc() || end != ordinal.data() + ordinal.size() || number < 0) {
    fail(ErrorKind::kUsage, "'cuda:{}' is no GPU; they are numbered: cuda:0", ordinal);
  }
  const std::string name = fmt::format("cuda:{}", number);
  int count = 0;
  check(cudaGetDeviceCount(&count), name);
  if (number >= count) fail(ErrorKind::kNotFound, "{}: this machine has {} GPU{}", name, count, count == 1 ? "" : "s");
  return std::make_shared<CudaDevice>(number);
}

}  // namespace stoker
