#include "stoker/order/order_options.h"

#include "stoker/base/error.h"

namespace stoker {

std::string_view to_string(OrderKind kind) {
  switch (kind) {
    case OrderKind::kGlobal: return "global";
    case OrderKind::kNone: return "none";
  }
  return "";
}

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

}  // namespace stoker
