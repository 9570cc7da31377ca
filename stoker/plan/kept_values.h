// What a batch keeps of its slots for functions of whole batches, until all slots are written and these are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

/// View by view, the values of all slots side by side. Threads: any, in different slots at once.
class KeptValues {
 public:
  /// For at most so many slots. The plan must outlive it. Throws kMemory.
  KeptValues(const Plan& plan, int slots);

  static std::size_t bytes(const Plan& plan, int slots);

  bool empty() const { return plan_.kept_views().empty(); }
  /// Where a slot's value of a view goes.
  MutableBytes place(std::size_t view, int slot) const;
  /// No sample stands in the slot.
  void pad(int slot) const;
  /// The values of the first slots.
  Bytes first(std::size_t view, int slots) const;

 private:
  std::size_t number_of(std::size_t view) const;

  const Plan& plan_;
  std::vector<std::size_t> offsets_;
  Memory memory_;
};

}  // namespace stoker
