#include "stoker/device/cuda/cuda_memory.h"

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"

namespace stoker {

std::uint8_t* PinnedAllocator::allocate(std::size_t bytes) {
  if (!refused_) {
    const OnGpu on(gpu_);
    void* memory = nullptr;
    const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
    if (error == cudaSuccess) return static_cast<std::uint8_t*>(memory);
    cudaGetLastError();  // or the next call would report it
    if (error != cudaErrorMemoryAllocation) check_cuda(error, gpu_.name());
    refused_ = true;
    log(LogLevel::kWarning,
        "{}: the machine cannot pin {} of memory, so copies to the GPU are slower and do not overlap", gpu_.name(),
        format_size(static_cast<double>(bytes)));
  }
  std::uint8_t* const memory = host_allocator().allocate(bytes);
  const std::lock_guard lock(mutex_);
  plain_.insert(memory);
  return memory;
}

void PinnedAllocator::deallocate(std::uint8_t* memory, std::size_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (plain_.erase(memory) == 0) return quietly_on_gpu(gpu_, [&] { cudaFreeHost(memory); });
  }
  host_allocator().deallocate(memory, bytes);
}

std::uint8_t* GpuAllocator::allocate(std::size_t bytes) {
  const OnGpu on(gpu_);
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes), gpu_.name());
  return static_cast<std::uint8_t*>(memory);
}

void GpuAllocator::deallocate(std::uint8_t* memory, std::size_t) noexcept {
  quietly_on_gpu(gpu_, [&] { cudaFree(memory); });
}

}  // namespace stoker
