#include "stoker/base/distributions.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

// In (0, 1], so that it has a logarithm.
double positive_uniform(Random& random) { return 1 - random.uniform(); }

// exp(x) for x <= 0, also where the result is smaller than any double.
double exp_of_negative(double x) {
  constexpr double kLeast = -700;  // within the range that portable_exp computes accurately
  return x < kLeast ? 0 : portable_exp(x);
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for a shape of at least 1.
double large_gamma(Random& random, double shape) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw_normal(random);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (portable_log(positive_uniform(random)) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

// Marsaglia's polar method, which needs no sine. The second number of the pair is dropped: a generator without a memory
// of its own gives draws that depend on Random alone.
double draw_normal(Random& random, double mean, double sigma) {
  for (;;) {
    const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    const double square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    return mean + sigma * (x * std::sqrt(-2 * portable_log(square) / square));
  }
}

double draw_log_gamma(Random& random, double shape) {
  assert(shape > 0);
  if (shape >= 1) return portable_log(large_gamma(random, shape));
  // A variate of shape + 1, times a uniform one to the power 1 / shape.
  const double larger = portable_log(large_gamma(random, shape + 1));
  return larger + portable_log(positive_uniform(random)) / shape;
}

double draw_gamma(Random& random, double shape) {
  assert(shape > 0);
  if (shape >= 1) return large_gamma(random, shape);
  const double log = draw_log_gamma(random, shape);
  return log > 0 ? portable_exp(log) : exp_of_negative(log);
}

double draw_beta(Random& random, double a, double b) {
  const double log_x = draw_log_gamma(random, a), log_y = draw_log_gamma(random, b);
  // x / (x + y), divided by the larger one so that nothing overflows.
  if (log_x > log_y) return 1 / (1 + exp_of_negative(log_y - log_x));
  const double ratio = exp_of_negative(log_x - log_y);
  return ratio / (1 + ratio);
}

void draw_dirichlet(Random& random, double shape, std::span<double> weights) {
  assert(!weights.empty());
  for (double& weight : weights) weight = draw_log_gamma(random, shape);
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) {
    weight = exp_of_negative(weight - largest);
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
}

std::size_t draw_place(Random& random, std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  assert(sum > 0);
  double rest = random.uniform() * sum;
  std::size_t last = 0;  // of those that may be drawn: rounding may leave a rest after all of them
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    if (rest < weights[i]) return i;
    rest -= weights[i];
    last = i;
  }
  return last;
}

}  // namespace stoker
