#include "stoker/runtime/bad_slot_policy.h"

#include <algorithm>

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<BadSlotPolicy> kPolicies[] = {
    {BadSlotPolicy::kSubstitute, "substitute"}, {BadSlotPolicy::kSkip, "skip"}, {BadSlotPolicy::kFail, "fail"}};

// So many, or one in so many slots.
constexpr std::int64_t kAccidentsMin = 10, kAccidentsShare = 1000;

}  // namespace

std::int64_t bad_samples_most(std::int64_t slots) { return std::max(kAccidentsMin, slots / kAccidentsShare); }

std::string_view to_string(BadSlotPolicy policy) { return word_of(kPolicies, policy); }

BadSlotPolicy parse_bad_slot_policy(std::string_view name) {
  return value_of(kPolicies, name, "not a policy for bad samples");
}

}  // namespace stoker
