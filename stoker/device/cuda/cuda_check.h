// Common parts of CUDA calls: an error becomes a sentence, and each call is made for the right GPU.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <exception>
#include <string>
#include <string_view>

namespace stoker {

/// Throws for what is none of cudaSuccess, with what a person can do about it; `what` names the GPU.
void check_cuda(cudaError_t error, std::string_view what);

/// A GPU's context that all of a process share, PyTorch's work included.
class GpuContext {
 public:
  /// Of a GPU that there is. Throws what check_cuda() does.
  explicit GpuContext(int gpu);
  ~GpuContext();
  /// Whether this process has begun to use the GPU, here or elsewhere.
  static bool is_there(int gpu);
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  int gpu() const { return gpu_; }
  const std::string& name() const { return name_; }  // "cuda:0"

 private:
  friend class OnGpu;

  const int gpu_;
  const std::string name_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// The calling thread works with a GPU, and afterwards as before: cudaSetDevice() would begin work on another GPU to go
/// back to it.
class OnGpu {
 public:
  explicit OnGpu(const GpuContext& gpu);
  ~OnGpu();
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
};

/// Calls `work` there, where a failure cannot be reported: in destructors.
template <typename Work>
void quietly_on_gpu(const GpuContext& gpu, Work work) noexcept {
  try {
    const OnGpu on(gpu);
    work();
  } catch (const std::exception&) {  // the GPU is lost, or the process ends
  }
}

class GpuStream {
 public:
  /// Not one that waits for the default stream, which is the consumer's. The context must outlive it.
  explicit GpuStream(const GpuContext& gpu) : gpu_(gpu) {
    const OnGpu on(gpu);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), gpu.name());
  }
  ~GpuStream() {
    quietly_on_gpu(gpu_, [&] {
      cudaStreamSynchronize(stream_);
      cudaStreamDestroy(stream_);
    });
  }
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  const GpuContext& gpu_;
  cudaStream_t stream_ = nullptr;
};

/// The context must outlive it.
class GpuEvent {
 public:
  GpuEvent(const GpuContext& gpu, unsigned flags) : gpu_(gpu) {
    const OnGpu on(gpu);
    check_cuda(cudaEventCreateWithFlags(&event_, flags), gpu.name());
  }
  ~GpuEvent() {
    quietly_on_gpu(gpu_, [&] { cudaEventDestroy(event_); });
  }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  operator cudaEvent_t() const { return event_; }

 private:
  const GpuContext& gpu_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace stoker
