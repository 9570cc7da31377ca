// HDF5's extensible array, which grows without moving: the places of chunks of a dataset with one axis that has no
// bound. The first few elements stand in its index block; the others in data blocks, which belong to super blocks:
// super block s has 2^(s/2) data blocks of 2^((s+1)/2) times the least number of elements. Of the first super blocks
// there is no trace but their data blocks' addresses in the index block.
//
//   the header      "EAHD", u8 0, u8 1 if chunks are filtered, u8 bytes of an element, u8 bits of the largest number of
//                   elements, u8 elements in the index block, u8 least elements of a data block, u8 least data blocks
//                   of a super block, u8 bits of a page, 6 lengths, address of the index block, u32 checksum
//   index block     "EAIB", u8 0, u8 kind, address of the header, the elements, addresses of data blocks, addresses of
//                   super blocks, u32 checksum
//   super block     "EASB", u8 0, u8 kind, address of the header, its place, [a bit for each page of its data blocks],
//                   addresses of its data blocks, u32 checksum
//   data block      "EADB", u8 0, u8 kind, address of the header, its place, the elements, u32 checksum; if they are
//   more
//                   than a page has: u32 checksum, the pages, each with one
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/format/hdf5/hdf5_chunks.h"

namespace stoker {

/// Threads: one. All throw kData if the array is damaged or truncated.
class Hdf5ExtensibleArray {
 public:
  /// The file must outlive it.
  Hdf5ExtensibleArray(Hdf5File& file, std::uint64_t address, std::uint64_t chunk_bytes, bool is_filtered);

  /// Fast in ascending order.
  Hdf5Chunk element(std::uint64_t number);

 private:
  struct SuperBlock {
    std::uint64_t number = kHdf5Nowhere;
    std::vector<std::uint64_t> data_blocks{};  // their addresses
    std::vector<std::uint8_t> pages{};         // a bit for each that was written
  };
  /// Elements one after another that were read last.
  struct Run {
    std::uint64_t first = 0;
    std::vector<Hdf5Chunk> elements{};
  };

  void read_index_block(std::uint64_t address);
  void read_super_block(std::uint64_t number);
  void read_run(std::uint64_t first, std::uint64_t count, std::uint64_t address, std::uint64_t prefix_bytes);
  std::uint64_t data_blocks_of(std::uint64_t super_block) const { return std::uint64_t{1} << (super_block / 2); }
  std::uint64_t elements_of(std::uint64_t super_block) const { return least_elements_ << ((super_block + 1) / 2); }

  Hdf5File& file_;
  const std::uint64_t chunk_bytes_;
  std::size_t element_bytes_ = 0, place_bytes_ = 0;
  std::uint64_t least_elements_ = 1, page_elements_ = 1;
  std::uint64_t first_super_block_ = 0;  // that is a block of its own
  std::vector<Hdf5Chunk> in_index_;
  std::vector<std::uint64_t> data_blocks_, super_blocks_;  // addresses in the index block
  SuperBlock super_block_;
  Run run_;
};

}  // namespace stoker
