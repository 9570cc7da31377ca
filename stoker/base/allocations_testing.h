// Counts what a test program takes from operator new; what libraries take from malloc is not counted.
#pragma once

#include <cstdint>

namespace stoker {

/// How often operator new was called since the program started, by all threads. A program that uses this function gets
/// the counting operator new with it, all others keep their own.
std::int64_t allocations_so_far();

}  // namespace stoker
