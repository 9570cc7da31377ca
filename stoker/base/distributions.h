// Distributions drawn from Random, with the same bits on every machine: only additions, multiplications, divisions and
// square roots, which IEEE 754 defines exactly, and exp and log of portable_math.h. How many numbers a draw takes from
// Random may depend on their values.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/base/random.h"

namespace stoker {

/// The normal distribution of this mean and standard deviation, which must not be negative.
double draw_normal(Random& random, double mean = 0, double sigma = 1);

/// The gamma distribution of this shape and of scale 1. The shape must be positive. For a shape far below 1 most draws
/// are smaller than any double and come out as 0; see draw_log_gamma.
double draw_gamma(Random& random, double shape);
/// The logarithm of a gamma variate, which is finite for any shape down to 1e-300.
double draw_log_gamma(Random& random, double shape);

/// The beta distribution: in [0, 1]; both shapes must be positive.
double draw_beta(Random& random, double a, double b);

/// The symmetric Dirichlet distribution: positive weights whose sum is 1 up to rounding.
void draw_dirichlet(Random& random, double shape, std::span<double> weights);

/// A place in `weights`, each as likely as its share of their sum. No weight may be negative, and their sum must be
/// positive. A place of weight 0 is never drawn.
std::size_t draw_place(Random& random, std::span<const double> weights);

}  // namespace stoker
