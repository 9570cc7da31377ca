#include "stoker/runtime/scratch_budget.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kAllowanceMin = kMebibyte, kAllowanceMax = 32 * kMebibyte;

}  // namespace

ScratchBudget::ScratchBudget(std::uint64_t bytes, int threads)
    : allowance_(std::clamp(bytes / 2 / static_cast<std::uint64_t>(threads), kAllowanceMin, kAllowanceMax)),
      for_large_(bytes - std::min(bytes, allowance_ * static_cast<std::uint64_t>(threads))),
      large_(for_large_) {}

void ScratchGate::enter(std::uint64_t bytes) {
  if (bytes <= budget_.allowance_) return;
  if (bytes > budget_.for_large_) {
    fail(ErrorKind::kMemory, "to decode it takes {}, and the memory budget leaves {} for that; give the loader {} more",
         format_size(static_cast<double>(bytes)), format_size(static_cast<double>(budget_.for_large_)),
         format_size(static_cast<double>(3 * (bytes - budget_.for_large_))));
  }
  std::optional<ByteBudget::Grant> grant = budget_.large_.take(bytes, budget_.stop_.get_token());
  if (!grant) fail(ErrorKind::kClosed, "the loader is closed");
  grant_ = *std::move(grant);
  taken_ = bytes;
}

void ScratchGate::leave() {
  grant_ = {};
  taken_ = 0;
}

}  // namespace stoker
