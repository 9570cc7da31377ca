// Where the chunks of a dataset lie, by each of HDF5's indexes.
//
//   a B-tree of version 1   "TREE", u8 1, u8 level, u16 children, 2 addresses of siblings; then a key before each child
//                           and one at the end: u32 bytes of the chunk, u32 mask of filters that were left out, u64 for
//                           each axis of an element, u64 0; a child is an address
//   a fixed array           "FAHD", u8 0, u8 1 if chunks are filtered, u8 bytes of an element, u8 bits of a page,
//   length:
//                           elements, address of the block, u32 checksum
//   its block               "FADB", u8 0, u8 kind, address of the array, the elements, u32 checksum; if there are more
//                           than a page has, a bit for each page that was written, u32 checksum, the pages, each with
//                           one
//   an element              address of the chunk, [its bytes, u32 the mask, if chunks are filtered]
//   a B-tree of version 2   kind 10, records of an address and u64 for each axis of a chunk; kind 11, of an element as
//                           above and these numbers
//   an extensible array     hdf5_extensible_array.h
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/format/hdf5/hdf5_messages.h"

namespace stoker {

struct Hdf5Chunk {
  std::uint64_t address = kHdf5Nowhere;  // that one was never written has none
  std::uint64_t bytes = 0;               // as it is stored
  std::uint32_t mask = 0;                // of the filters that it did not go through
};

/// Of a dataset.
inline constexpr std::uint64_t kHdf5ChunksMax = std::uint64_t{1} << 24;

/// The chunks along the first axis of a dataset whose chunks have whole rows, in order. `chunk_bytes`: of each, without
/// filters. Throws kData, naming the dataset, if the index is damaged or truncated; kLimit for more than
/// kHdf5ChunksMax.
std::vector<Hdf5Chunk> read_hdf5_chunks(Hdf5File& file, const Hdf5Dataset& dataset, std::uint64_t chunk_bytes);

/// An element of an array of chunks.
Hdf5Chunk read_hdf5_element(Hdf5Fields& fields, std::size_t element_bytes, std::size_t address_bytes,
                            std::uint64_t chunk_bytes);

/// HDF5 counts the bits of a map from the highest of a byte on.
inline bool hdf5_bit(Bytes map, std::uint64_t number) {
  return (map[static_cast<std::size_t>(number / 8)] & (0x80 >> (number % 8))) != 0;
}

}  // namespace stoker
