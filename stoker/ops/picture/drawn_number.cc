#include "stoker/ops/picture/drawn_number.h"

#include <vector>

#include "stoker/base/error.h"

namespace stoker {

DrawnNumber::DrawnNumber(const OperatorCall& call, std::string_view arg)
    : DrawnNumber(call.numbers(arg).front(), call.numbers(arg).back()) {
  if (low_ > high_)
    fail(ErrorKind::kUsage, "{} is [{}, {}]; the first number must not be above the second", arg, low_, high_);
}

}  // namespace stoker
