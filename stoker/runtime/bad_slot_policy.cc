#include "stoker/runtime/bad_slot_policy.h"

#include "stoker/base/error.h"

namespace stoker {

std::string_view to_string(BadSlotPolicy policy) {
  switch (policy) {
    case BadSlotPolicy::kSubstitute: return "substitute";
    case BadSlotPolicy::kSkip: return "skip";
    case BadSlotPolicy::kFail: return "fail";
  }
  return "";
}

BadSlotPolicy parse_bad_slot_policy(std::string_view name) {
  for (const auto policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip, BadSlotPolicy::kFail}) {
    if (to_string(policy) == name) return policy;
  }
  fail(ErrorKind::kUsage, "'{}' is not what can be done with a bad sample; use substitute, skip or fail", name);
}

}  // namespace stoker
