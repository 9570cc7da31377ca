// exp, log, sine and cosine that give the same bits on every machine. libm picks other code on a CPU with FMA, and one
// ulp can move a random crop by a pixel. Plain multiplications and additions, accurate to a few ulp for |x| up to about
// 700.
#pragma once

namespace stoker {

double portable_exp(double x);
/// x must be positive and finite.
double portable_log(double x);

struct SineCosine {
  double sine, cosine;
};
/// Of an angle in radians, within some 1e-16 of the truth up to a million.
SineCosine portable_sine_cosine(double x);

}  // namespace stoker
