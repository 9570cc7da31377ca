#include "stoker/capacity/caches.h"

#include <cmath>

namespace stoker {

double hits_of_least_recent(double part) { return part >= 1 ? 1 : part + (1 - part) * std::log1p(-part); }

double hits_of_page_cache(double part) {
  // Linux 6.18, 1,200 files of 100 KiB in a memory control group that has room for 41%, 71% and 91% of them: 15%, 42%
  // and 75% came from it, of epochs after the third.
  constexpr double kProtected = 0.2;
  const double least_recent = hits_of_least_recent(part);
  return least_recent + kProtected * (hits_of_kept(part) - least_recent);
}

}  // namespace stoker
