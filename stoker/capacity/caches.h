// What part of the samples a cache gives back, when every epoch asks for each of them once, in a new random order.
#pragma once

namespace stoker {

/// The part of the data that a cache of this size has room for, at most 1. No data: all of them.
constexpr double cached_part(double cache_bytes, double data_bytes) {
  if (data_bytes <= 0 || cache_bytes >= data_bytes) return 1;
  return cache_bytes > 0 ? cache_bytes / data_bytes : 0;
}

/// By a cache that keeps what it has: the samples it has.
constexpr double hits_of_kept(double part) { return part; }

/// By one that forgets what was not used for longest. Of an order drawn anew, a sample is still there if the samples
/// after it in one epoch and those before it in the next, counted once, fit: c + (1 - c) ln(1 - c) of them, 15% for a
/// cache of half of the data.
double hits_of_least_recent(double part);

/// By Linux's page cache, which protects what was used twice: between the two, as measured.
double hits_of_page_cache(double part);

}  // namespace stoker
