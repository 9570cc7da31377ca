#include "stoker/ops/picture/drawn_number.h"

#include <vector>

#include "stoker/base/error.h"

namespace stoker {

DrawnNumber::DrawnNumber(const OperatorCall& call, std::string_view arg)
    : DrawnNumber(call.numbers(arg).front(), call.numbers(arg).back()) {
  if (low_ > high_)
    fail(ErrorKind::kUsage, "{} is [{}, {}]; the first number must not be above the second", arg, low_, high_);
}

DrawnNumber DrawnNumber::symmetric(const OperatorCall& call, std::string_view arg) {
  const std::vector<double>& numbers = call.numbers(arg);
  if (numbers.size() != 1) return DrawnNumber(call, arg);
  if (numbers[0] < 0) fail(ErrorKind::kUsage, "{} is {}; a single number must not be negative", arg, numbers[0]);
  return DrawnNumber(-numbers[0], numbers[0]);
}

}  // namespace stoker
