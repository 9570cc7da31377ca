// Several measurements of one quantity, as a figure.
#pragma once

#include <vector>

#include "stoker/doctor/facts.h"

namespace stoker {

/// Unknown if there are none.
Figure figure_of(std::vector<double> tries);

/// `count` quantiles, evenly spaced from the least to the largest; none of none.
std::vector<double> quantiles_of(std::vector<double> values, int count);

/// How many are kept of a distribution.
inline constexpr int kQuantiles = 21;

}  // namespace stoker
