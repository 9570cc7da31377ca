// Whether samples fit a distribution, for tests of what is drawn.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace stoker {

/// The Kolmogorov-Smirnov statistic: the largest distance between the samples' distribution and the cumulative
/// distribution `cdf`, times the square root of their number. Where samples are equal, `cdf` may have a step.
double kolmogorov_smirnov(std::vector<double> samples, const std::function<double(double)>& cdf);
/// Samples of the distribution exceed it once in 10,000 times; a test draws from a fixed seed, so it always passes or
/// always fails.
inline constexpr double kKolmogorovSmirnovMax = 2.23;

/// Pearson's chi-squared statistic of counts against the probabilities of their cells, less the degrees of freedom, in
/// standard deviations. A cell of probability 0 with a count gives infinity.
double chi_squared_excess(std::span<const int> counts, std::span<const double> probabilities);
/// Right counts exceed it about once in 10,000 times, from some ten cells on.
inline constexpr double kChiSquaredExcessMax = 4.5;

}  // namespace stoker
