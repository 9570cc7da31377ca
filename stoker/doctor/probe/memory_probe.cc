#include "stoker/doctor/probe/memory_probe.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/side_by_side.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/runtime/thread_pool.h"
#include "stoker/tensor/allocator.h"

namespace stoker {
namespace {

// Of each core: with its copy more than its part of the caches.
constexpr std::size_t kBufferBytes = std::size_t{32} << 20;
constexpr int kMemoryTries = 7, kMemoryTriesQuick = 3;
constexpr int kMemoryThreadsMax = 64;      // that saturate any memory
constexpr std::uint64_t kBuffersPart = 8;  // of the memory, for all buffers

/// What one thread copies, from one half to the other.
struct CopyBuffer {
  explicit CopyBuffer(std::size_t bytes) : memory(host_allocator(), 2 * bytes) {}
  void touch() const { std::memset(memory.data(), 1, memory.size()); }
  void copy() const { std::memcpy(memory.data(), memory.data() + memory.size() / 2, memory.size() / 2); }

  Memory memory;
};

}  // namespace

MemoryCopiers memory_copiers(int cores, std::uint64_t memory_bytes) {
  const std::uint64_t room = memory_bytes / kBuffersPart / (2 * kBufferBytes);
  const auto wanted = static_cast<std::uint64_t>(std::min(cores, kMemoryThreadsMax));
  const int threads = static_cast<int>(std::clamp<std::uint64_t>(room, 1, wanted));
  return {threads, threads < kMemoryThreadsMax ? threads : cores};
}

MemoryFacts probe_memory(const ProbeLimits& limits) {
  const auto [threads, cores] = memory_copiers(usable_cores(), usable_memory());
  std::vector<CopyBuffer> buffers;
  try {
    for (int i = 0; i < threads; ++i) buffers.emplace_back(kBufferBytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kMemory) throw;
    return {};
  }
  ThreadPool pool("stoker-probe", threads, threads);
  std::vector<std::size_t> numbers(buffers.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  run_side_by_side(pool, numbers, [&](std::size_t i) { buffers[i].touch(); });
  std::vector<double> rates;
  const auto try_ns = limits.ns(0.15, 0.06);
  for (int i = 0; i < limits.pick(kMemoryTries, kMemoryTriesQuick); ++i) {
    limits.check();
    std::atomic<std::int64_t> copies = 0;
    const std::int64_t began_ns = now_ns(), cpu_before_ns = process_cpu_ns();
    run_side_by_side(pool, numbers, [&](std::size_t number) {
      while (now_ns() - began_ns < try_ns) {
        buffers[number].copy();
        ++copies;
      }
    });
    // Threads that wait for a core copy nothing: their time on one counts.
    const auto took_s = static_cast<double>(process_cpu_ns() - cpu_before_ns) * 1e-9 / threads;
    rates.push_back(static_cast<double>(copies) * static_cast<double>(kBufferBytes) / took_s);
  }
  return {.copy_bytes_per_s = figure_of(std::move(rates)), .cores = static_cast<double>(cores)};
}

}  // namespace stoker
