// HDF5's global heap: where the values of varying length lie that an element of a dataset refers to.
//
//   an element     u32 how many elements the value has, address of a collection, u32 the value's number in it
//   a collection   "GCOL", u8 1, 3 x u8 0, length: bytes of it all; then values, up to its end or the number 0: u16
//   number,
//                  u16 references, u32 0, length: bytes, these bytes, and others up to a multiple of 8
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "stoker/format/hdf5/hdf5_file.h"

namespace stoker {

/// Where a value lies in the source.
struct Hdf5Value {
  std::uint64_t offset = 0, length = 0;
};

/// Threads: one.
class Hdf5Heap {
 public:
  static constexpr std::size_t kKeptValuesMax = std::size_t{1} << 20;

  /// Both must outlive it.
  Hdf5Heap(Hdf5File& file, Source& source) : file_(file), bytes_(source) {}

  std::size_t reference_bytes() const { return 8 + file_.address_bytes(); }
  /// Of a value whose elements have so many bytes. Throws kData if it does not lie in the heap, or a collection is
  /// damaged.
  Hdf5Value find(Bytes reference, std::uint64_t element_bytes);
  /// The first bytes of a value, at most so many; they stay until the next call.
  Bytes read(const Hdf5Value& value, std::size_t bytes_max);

 private:
  struct Entry {
    std::uint16_t number = 0;
    Hdf5Value value{};
  };
  using Collection = std::vector<Entry>;  // by number

  const Collection& collection(std::uint64_t address);
  Collection read_collection(std::uint64_t address);

  Hdf5File& file_;
  AscendingReader bytes_;
  std::map<std::uint64_t, Collection> kept_;  // by address
  std::deque<std::uint64_t> order_;           // of being read
  std::size_t kept_values_ = 0;
};

}  // namespace stoker
