#include "stoker/runtime/bad_slot_policy.h"

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<BadSlotPolicy> kPolicies[] = {
    {BadSlotPolicy::kSubstitute, "substitute"}, {BadSlotPolicy::kSkip, "skip"}, {BadSlotPolicy::kFail, "fail"}};

}  // namespace

std::string_view to_string(BadSlotPolicy policy) { return word_of(kPolicies, policy); }

BadSlotPolicy parse_bad_slot_policy(std::string_view name) {
  return value_of(kPolicies, name, "not a policy for bad samples");
}

}  // namespace stoker
