// Counts what a test program takes from operator new, and makes it fail; what libraries take from malloc is neither
// counted nor refused.
#pragma once

#include <cstdint>

namespace stoker {

/// How often operator new was called since the program started, by all threads. A program that uses this function gets
/// the counting operator new with it; all other programs keep the usual one.
std::int64_t allocations_so_far();

/// The number of live allocations. Memory allocated before main() and freed later makes it smaller, never larger.
std::int64_t allocations_alive();

/// While it lives operator new finds no memory, on any thread. One at a time.
class AllocationFault {
 public:
  /// Call `number`, counting from 0 and from here on, is refused; `for_good`: and so is every later one.
  AllocationFault(std::int64_t number, bool for_good);
  ~AllocationFault();
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;

  /// Whether there have been so many calls.
  bool happened() const;

 private:
  std::int64_t first_;
};

}  // namespace stoker
