// How an output's values lie in a batch's memory: the seam for outputs whose values differ in size from sample to
// sample, beside those of one shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// Has no state: what it needs to know stands in the output's memory, of which a copy is as good, on a device or back
/// from there. `slots` is the batch's number of slots throughout. Threads: any; distinct slots may be written at once.
class Arrangement {
 public:
  virtual ~Arrangement() = default;

  /// Memory for so many slots, whatever their values; SIZE_MAX if none can be that large. More slots take no less.
  virtual std::size_t bytes_max(const OutputSpec& spec, int slots) const = 0;

  /// Where to write a slot's value of this shape. A slot may be written again. Throws kLimit for a value that is too
  /// large.
  virtual MutableBytes place(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot,
                             const Shape& shape) const = 0;
  /// What was placed last in a slot, before it is sealed.
  virtual MutableBytes placed(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const = 0;
  /// Writes the value of a slot in which no sample stands.
  virtual void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const = 0;

  /// Every slot is written. Returns how much of the memory, from its beginning, consumers need.
  virtual std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t* memory) const = 0;

  /// Whether these bytes, aligned for 64-bit numbers, may be what seal() left: a consumer finds all values in them.
  virtual bool may_be(const OutputSpec& spec, int slots, Bytes sealed) const = 0;

  /// A slot's value in memory that was sealed.
  virtual Bytes value(const OutputSpec& spec, int slots, const std::uint8_t* memory, int slot) const = 0;
  /// What consumers get of memory that was sealed, and in which they need `used` bytes: a tensor, or values and where
  /// each slot's begin. The memory may be a GPU's.
  virtual std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory,
                                          std::size_t used) const = 0;
};

}  // namespace stoker
