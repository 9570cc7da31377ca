// The memory for work on a GPU: the GPU's own, and the host memory that copies start from.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include "stoker/device/cuda/cuda_check.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

/// Pinned, so that copies need no detour and go beside all else; where the machine refuses that, plain, and a line of
/// the log says so.
class PinnedAllocator final : public Allocator {
 public:
  explicit PinnedAllocator(const GpuContext& gpu) : gpu_(gpu) {}

  std::uint8_t* allocate(std::size_t bytes) override;
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override;

 private:
  const GpuContext& gpu_;
  std::atomic<bool> refused_{false};
  std::mutex mutex_;
  std::set<std::uint8_t*> plain_;  // what was given out since
};

class GpuAllocator final : public Allocator {
 public:
  explicit GpuAllocator(const GpuContext& gpu) : gpu_(gpu) {}

  std::uint8_t* allocate(std::size_t bytes) override;
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override;

 private:
  const GpuContext& gpu_;
};

}  // namespace stoker
