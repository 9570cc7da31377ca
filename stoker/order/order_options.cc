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

void check_repeats(const OrderOptions& options) {
  if (options.repeats < 1) fail(ErrorKind::kUsage, "repeats must be at least 1, not {}", options.repeats);
  std::int64_t positions;
  if (__builtin_mul_overflow(options.samples, options.repeats, &positions) ||
      positions > INT64_MAX - options.global_batch) {
    fail(ErrorKind::kUsage, "{}, {} each, are too many to count", counted(options.samples, "sample"),
         counted(options.repeats, "time"));
  }
  const std::int64_t copies = options.batch_repeats;
  if (copies < 1) fail(ErrorKind::kUsage, "batch_repeats must be at least 1, not {}", copies);
  if (copies == 1) return;
  if (counts_each_once(options.tail)) {
    fail(ErrorKind::kUsage,
         "tail {} counts every sample of an epoch once, but with batch_repeats {} an epoch has only some of them, {} "
         "each; use batch_repeats 1, or tail drop or wrap",
         to_string(options.tail), copies, counted(copies, "time"));
  }
  if (options.global_batch % copies != 0) {
    fail(ErrorKind::kUsage,
         "a global batch of {} cannot hold each of its samples {}; use one that is a multiple of {}, or other "
         "batch_repeats",
         options.global_batch, counted(copies, "time"), copies);
  }
}

// A batch takes equally many different samples from each lane, and repeats must not divide them between ranks.
void check_windowed(const OrderOptions& options, int world) {
  if (options.window < 1) fail(ErrorKind::kUsage, "a window must have at least 1 sample, not {}", options.window);
  if (options.lanes < 1) fail(ErrorKind::kUsage, "lanes must be at least 1, not {}", options.lanes);
  const std::int64_t slots = options.different_slots();
  if (slots % world != 0) {
    fail(
        ErrorKind::kUsage,
        "the order windowed cannot divide the {} of a global batch among {}; use another batch, or other batch_repeats",
        counted(slots, "different sample"), counted(world, "rank"));
  }
  if (slots / world % options.repeats != 0) {
    fail(ErrorKind::kUsage,
         "the order windowed cannot make batches of {} in which each sample comes {}; use a multiple of {}, or other "
         "repeats",
         slots / world, counted(options.repeats, "time"), options.repeats);
  }
  const std::int64_t different = slots / options.repeats;  // samples of a global batch
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

}  // namespace

std::string_view to_string(OrderKind kind) { return word_of(kOrders, kind); }

OrderKind parse_order(std::string_view name) { return value_of(kOrders, name, "not an order"); }

std::string_view to_string(Tail tail) { return word_of(kTails, tail); }

Tail parse_tail(std::string_view name) { return value_of(kTails, name, "not a tail"); }

void check_order(const OrderOptions& options, int world) {
  check_repeats(options);
  if (!options.mixture.empty() && options.kind != OrderKind::kGlobal) {
    fail(ErrorKind::kUsage, "a mixture needs the order global, not {}", to_string(options.kind));
  }
  if (options.kind == OrderKind::kWindowed) check_windowed(options, world);
}

}  // namespace stoker
