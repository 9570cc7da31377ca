#include "stoker/runtime/engine/scratch_budget.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/freed_memory.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kAllowanceMin = kMebibyte, kAllowanceMax = 32 * kMebibyte;

/// What workers may keep together, of so many bytes.
std::uint64_t kept_of(std::uint64_t bytes, int threads, int threads_later) {
  const auto later = std::min(static_cast<std::uint64_t>(threads_later), bytes / 2 / kAllowanceMin);
  const std::uint64_t count = std::max(static_cast<std::uint64_t>(threads), later);
  return std::min(bytes, count * std::clamp(bytes / 2 / count, kAllowanceMin, kAllowanceMax));
}

}  // namespace

ScratchBudget::ScratchBudget(std::uint64_t bytes, int threads, int threads_later, Enough enough)
    : for_small_(kept_of(bytes, threads, threads_later)),
      for_large_(bytes - for_small_),
      enough_(std::move(enough)),
      large_(for_large_) {
  set_threads(threads);
}

void ScratchBudget::set_threads(int threads) {
  const std::uint64_t each = for_small_ / static_cast<std::uint64_t>(threads);
  if (each < kAllowanceMin) {
    fail(ErrorKind::kMemory,
         "{} need more than the memory budget has room for; give the loader more memory, or use at most {} threads",
         counted(threads, "thread"), for_small_ / kAllowanceMin);
  }
  allowance_ = std::min(each, kAllowanceMax);
}

std::int64_t ScratchGate::enter(std::uint64_t bytes) {
  if (bytes <= allowance()) {
    has_ = std::max(has_, bytes);
    return 0;
  }
  if (bytes > budget_.for_large_) {
    fail(ErrorKind::kMemory, "decoding it takes {}, but the memory budget leaves {} for that; give the loader {}",
         format_size(static_cast<double>(bytes)), format_size(static_cast<double>(budget_.for_large_)),
         budget_.enough_ ? budget_.enough_(bytes) : std::string("more memory"));
  }
  const std::int64_t since = now_ns();
  std::optional<ByteBudget::Grant> grant = budget_.large_.take(bytes, budget_.stop_.get_token());
  if (!grant) fail(ErrorKind::kClosed, "the loader is closed");
  grant_ = *std::move(grant);
  is_granted_ = true;
  has_ = std::max(has_, bytes);
  return now_ns() - since;
}

void ScratchGate::drop_too_much(CpuExecutor& executor) {
  if (!must_drop()) return;
  executor.drop_scratch();
  release_freed(has());
  leave();
}

void ScratchGate::leave() {
  grant_ = {};
  is_granted_ = false;
  has_ = 0;
}

}  // namespace stoker
