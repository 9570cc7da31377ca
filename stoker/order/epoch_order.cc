#include "stoker/order/epoch_order.h"

#include <cassert>

#include "stoker/base/error.h"

namespace stoker {

std::string_view to_string(OrderKind kind) { return kind == OrderKind::kGlobal ? "global" : "none"; }

OrderKind parse_order(std::string_view name) {
  for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kNone}) {
    if (to_string(kind) == name) return kind;
  }
  fail(ErrorKind::kUsage, "'{}' is not an order; use global or none", name);
}

std::string_view to_string(Tail tail) {
  switch (tail) {
    case Tail::kDrop: return "drop";
    case Tail::kWrap: return "wrap";
    case Tail::kPad: return "pad";
  }
  return "";
}

Tail parse_tail(std::string_view name) {
  for (const Tail tail : {Tail::kDrop, Tail::kWrap, Tail::kPad}) {
    if (to_string(tail) == name) return tail;
  }
  fail(ErrorKind::kUsage, "'{}' is not a tail; use drop, wrap or pad", name);
}

EpochOrder::EpochOrder(const OrderOptions& options, std::int64_t epoch)
    : samples_(options.samples), tail_(options.tail) {
  assert(options.global_batch > 0);
  const std::int64_t whole = samples_ / options.global_batch;
  const bool incomplete = samples_ % options.global_batch != 0;
  batches_ = tail_ == Tail::kDrop ? whole : whole + (incomplete ? 1 : 0);
  if (options.kind == OrderKind::kGlobal && samples_ > 0) {
    permutation_.emplace(static_cast<std::uint64_t>(samples_), options.seed, static_cast<std::uint64_t>(epoch));
  }
}

std::optional<std::int64_t> EpochOrder::sample_at(std::int64_t position) const {
  if (position >= samples_) {
    if (tail_ == Tail::kPad) return std::nullopt;
    position %= samples_;
  }
  return permutation_ ? static_cast<std::int64_t>((*permutation_)(static_cast<std::uint64_t>(position))) : position;
}

}  // namespace stoker
