// An argument that is one number, or two between which a number is drawn for each picture.
#pragma once

#include <string_view>

#include "stoker/base/random.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

class DrawnNumber {
 public:
  DrawnNumber(double low, double high) : low_(low), high_(high) {}
  /// Throws kUsage if the second of two numbers is below the first.
  DrawnNumber(const OperatorCall& call, std::string_view arg);

  /// One number d stands for -d and d. Throws kUsage for a negative one, too.
  static DrawnNumber symmetric(const OperatorCall& call, std::string_view arg);

  /// Takes nothing from `random` if there is only one number.
  double draw(Random& random) const { return low_ == high_ ? low_ : random.uniform(low_, high_); }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_;
};

}  // namespace stoker
