// The policies for a slot whose sample's bytes are bad. Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class BadSlotPolicy : std::uint8_t {
  kSubstitute,  // another sample stands there (order/substitutes.h)
  kSkip,        // nothing: the slot is padding, and Batch::valid() false
  kFail,        // the batch is an error
};

std::string_view to_string(BadSlotPolicy policy);

/// Bad samples of an epoch, in which a rank has so many slots, that are taken for accidents: beyond that, unless the
/// policy is to fail at the first one, the epoch fails.
std::int64_t bad_samples_most(std::int64_t slots);

BadSlotPolicy parse_bad_slot_policy(std::string_view name);  // throws kUsage

}  // namespace stoker
