#include "stoker/pack/job_memory.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kMegabyte = 1'000'000;

// Measured: a job over tiny images holds 20 MB, and each thread more adds 1 to 2; indexes' blocks are up to 16 MB.
constexpr std::uint64_t kFixed = 40 * kMebibyte, kFixedEach = 2 * kMebibyte;
constexpr std::uint64_t kKeptMin = kMebibyte, kKeptMax = 16 * kMebibyte;
constexpr std::uint64_t kDividedMin = 16 * kMebibyte;

std::uint64_t least(int threads) {
  return kFixed + static_cast<std::uint64_t>(threads) * (kFixedEach + kKeptMin) + kDividedMin;
}

JobMemory divided(std::uint64_t bytes, int threads) {
  const auto count = static_cast<std::uint64_t>(threads);
  JobMemory memory;
  memory.fixed = kFixed + count * kFixedEach;
  std::uint64_t left = bytes - memory.fixed;
  memory.kept = std::clamp(left / 4 / count, kKeptMin, kKeptMax);
  left -= count * memory.kept;
  memory.read = left / 5;
  left -= memory.read;
  memory.shared = left / 4;
  memory.oldest = left - memory.shared;
  return memory;
}

}  // namespace

JobMemory divide_job_memory(std::uint64_t bytes, int threads) {
  if (bytes < least(threads)) {
    fail(ErrorKind::kMemory, "a memory budget of {} is too small; {} threads need at least {}", whole_megabytes(bytes),
         threads, whole_megabytes(least(threads)));
  }
  return divided(bytes, threads);
}

std::uint64_t default_job_memory(int threads) {
  return std::max(std::min(std::uint64_t{2} << 30, usable_memory() / 2), least(threads));
}

std::string job_memory_for(std::uint64_t sample_bytes, std::uint64_t work_bytes, int threads) {
  const auto holds = [&](std::uint64_t bytes) {
    const JobMemory memory = divided(bytes, threads);
    return memory.read >= sample_bytes && memory.oldest >= work_bytes;
  };
  std::uint64_t megabytes_below = least(threads) / kMegabyte, enough = megabytes_below + 1;
  while (!holds(enough * kMegabyte)) megabytes_below = enough, enough *= 2;
  while (enough - megabytes_below > 1) {
    const std::uint64_t middle = megabytes_below + (enough - megabytes_below) / 2;
    (holds(middle * kMegabyte) ? enough : megabytes_below) = middle;
  }
  return whole_megabytes(enough * kMegabyte);
}

}  // namespace stoker
