#include "stoker/order/order_options.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<OrderKind> kOrders[] = {
    {OrderKind::kGlobal, "global"}, {OrderKind::kWindowed, "windowed"}, {OrderKind::kNone, "none"}};

constexpr Word<Tail> kTails[] = {
    {Tail::kDrop, "drop"}, {Tail::kWrap, "wrap"}, {Tail::kPad, "pad"}, {Tail::kKeep, "keep"}};

std::int64_t divisor_at_most(std::int64_t number, std::int64_t most) {
  std::int64_t best = 1;
  for (std::int64_t small = 1; small <= number / small; ++small) {
    if (number % small != 0) continue;
    for (const std::int64_t divisor : {small, number / small}) {
      if (divisor <= most) best = std::max(best, divisor);
    }
  }
  return best;
}

}  // namespace

std::string_view to_string(OrderKind kind) { return word_of(kOrders, kind); }

OrderKind parse_order(std::string_view name) { return value_of(kOrders, name, "not an order"); }

std::string_view to_string(Tail tail) { return word_of(kTails, tail); }

Tail parse_tail(std::string_view name) { return value_of(kTails, name, "not a tail"); }

void check_order(const OrderOptions& options, int world) {
  if (options.repeats < 1) fail(ErrorKind::kUsage, "repeats must be at least 1, not {}", options.repeats);
  std::int64_t positions;
  if (__builtin_mul_overflow(options.samples, options.repeats, &positions) ||
      positions > INT64_MAX - options.global_batch) {
    fail(ErrorKind::kUsage, "{}, {} each, are too many to count", counted(options.samples, "sample"),
         counted(options.repeats, "time"));
  }
  if (!options.mixture.empty() && options.kind != OrderKind::kGlobal) {
    fail(ErrorKind::kUsage, "a mixture needs the order global, not {}", to_string(options.kind));
  }
  if (options.kind != OrderKind::kWindowed) return;
  if (options.window < 1) fail(ErrorKind::kUsage, "a window must have at least 1 sample, not {}", options.window);
  if (options.lanes < 1) fail(ErrorKind::kUsage, "lanes must be at least 1, not {}", options.lanes);
  if (options.global_batch / world % options.repeats != 0) {
    fail(ErrorKind::kUsage, "the order windowed cannot make batches of {} in which each sample comes {}",
         options.global_batch / world, counted(options.repeats, "time"));
  }
  const std::int64_t different = options.global_batch / options.repeats;  // samples of a global batch
  if (options.lanes % world == 0 && different % options.lanes == 0) return;
  const std::int64_t lanes = world * divisor_at_most(different / world, options.lanes / world);
  if (options.lanes % world != 0) {
    fail(ErrorKind::kUsage, "{} cannot be divided among {}; use a number of lanes that can, for example {}",
         counted(options.lanes, "lane"), counted(world, "rank"), lanes);
  }
  fail(ErrorKind::kUsage,
       "a global batch of {} cannot be divided among {}; use a number of lanes that divides it, for example {}, or "
       "another batch",
       different, counted(options.lanes, "lane"), lanes);
}

}  // namespace stoker
