// exp and log that give the same bits on every machine. libm picks other code on a CPU with FMA, and one ulp can move a
// random crop by a pixel. Plain multiplications and additions, accurate to a few ulp for |x| up to about 700.
#pragma once

namespace stoker {

double portable_exp(double x);
/// x must be positive and finite.
double portable_log(double x);

}  // namespace stoker
