// A B-tree of HDF5's version 2: records of one size, in order.
//
//   its header  "BTHD", u8 0, u8 kind, u32 bytes of a node, u16 bytes of a record, u16 depth, 2 x u8, address of the
//   root,
//               u16 records in the root, length: records in all, u32 checksum
//   a leaf      "BTLF", u8 0, u8 kind, the records, u32 checksum
//   a node      "BTIN", u8 0, u8 kind, the records, for each child, of which there is one more: address, its records,
//               if it is no leaf the records in and below it; u32 checksum. These numbers have as few bytes as what
//               they can be at most
#pragma once

#include <functional>

#include "stoker/format/hdf5/hdf5_file.h"

namespace stoker {

/// Bytes that are enough for the numbers up to this one.
std::size_t hdf5_bytes_for(std::uint64_t number_max);

/// Calls `take` with each record of the tree, which must be of that kind. Throws kData if the tree is damaged, or has
/// more than `records_max`, and what `take` throws.
void for_each_hdf5_record(Hdf5File& file, std::uint64_t address, std::uint8_t kind, std::uint64_t records_max,
                          const std::function<void(Bytes record)>& take);

}  // namespace stoker
