// Statistics of a few numbers, for the tuner.
#pragma once

#include <vector>

namespace stoker {

constexpr double square(double value) { return value * value; }

/// The middle one, or the mean of the two in the middle. There must be one.
double median(std::vector<double> values);

}  // namespace stoker
