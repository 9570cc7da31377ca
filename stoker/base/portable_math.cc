#include "stoker/base/portable_math.h"

#include <cassert>
#include <cmath>
#include <cstdint>

namespace stoker {
namespace {
// ln 2 in two parts: the high one has 32 significant bits, so that small integer multiples of it are exact.
constexpr double kLn2High = 0x1.62e42fefp-1, kLn2Low = 0x1.473de6af278edp-34;
// The same of pi / 2, in three.
constexpr double kHalfPiHigh = 0x1.921fb544p+0, kHalfPiMiddle = 0x1.0b4611a6p-34, kHalfPiLow = 0x1.3198a2e037073p-69;
}  // namespace

double portable_exp(double x) {
  const double k = std::floor(x * 0x1.71547652b82fep0 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln 2 / 2
  double term = 1, sum = 1;
  for (int i = 1; i <= 18; ++i) {
    term *= r / i;
    sum += term;
  }
  return std::ldexp(sum, static_cast<int>(k));
}

double portable_log(double x) {
  assert(x > 0 && std::isfinite(x));
  int exponent;
  double m = std::frexp(x, &exponent);  // x = m * 2^exponent, m in [0.5, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {       // keep m within [sqrt(1/2), sqrt(2))
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh((m - 1) / (m + 1)), a quickly converging odd series.
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double power = t, sum = 0;
  for (int i = 1; i <= 41; i += 2) {
    sum += power / i;
    power *= t2;
  }
  return exponent * kLn2High + (exponent * kLn2Low + 2 * sum);
}

SineCosine portable_sine_cosine(double x) {
  const double quarters = std::floor(x / (kHalfPiHigh + kHalfPiMiddle) + 0.5);
  const double r = ((x - quarters * kHalfPiHigh) - quarters * kHalfPiMiddle) - quarters * kHalfPiLow;
  double sine = 0, cosine = 0;  // of r, at most pi / 4: Taylor's series, the smallest terms first
  const double r2 = r * r;
  for (int i = 19; i >= 3; i -= 2) sine = (1 + sine) * (-r2 / (i * (i - 1)));
  for (int i = 20; i >= 2; i -= 2) cosine = (1 + cosine) * (-r2 / (i * (i - 1)));
  sine = r + r * sine;
  cosine = 1 + cosine;
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

}  // namespace stoker
