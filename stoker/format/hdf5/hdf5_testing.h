// Writes HDF5 files for tests, with the structures of either generation of the format; none has room for more, as those
// of libhdf5 have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/hdf5/hdf5_messages.h"

namespace stoker {

struct Hdf5TestDataset {
  std::string name;
  /// Numbers as numpy names them ("|u1", "<i8", ">f4"), "S5" for strings of 5 bytes, "V5" for opaque ones, "str" and
  /// "bytes" for texts and bytes of any length, "compound" for a type that Stoker does not read.
  std::string type = "|u1";
  std::vector<std::uint64_t> shape{};
  std::vector<std::uint64_t> shape_max{};  // empty: the shape; kHdf5Nowhere: without a bound
  std::string content{};                   // of values that have one size
  std::vector<std::string> values{};       // of others
  std::vector<std::uint64_t> chunk{};      // empty: the elements lie together
  Hdf5ChunkIndex index = Hdf5ChunkIndex::kTree;
  /// Numbers of filters, in order. The chunks of `unfiltered` did not go through the one of that place in the list.
  std::vector<std::uint16_t> filters{};
  std::vector<std::size_t> unfiltered{};
  std::vector<std::size_t> unwritten{};  // chunks; any number: the elements, if they lie together
  bool is_compact = false;               // in the header
};

struct Hdf5TestOptions {
  bool is_new = false;           // superblock 3, headers of version 2, links; else superblock 0 and symbol tables
  bool has_dense_links = false;  // of the new kind: in a heap
  std::string group{};           // the datasets are in it
  std::size_t user_block = 0;    // bytes in front of the file
  std::size_t chunks_per_node = 3;
};

std::string hdf5_file(const std::vector<Hdf5TestDataset>& datasets, const Hdf5TestOptions& options = {});

/// The bytes as the filter "shuffle" leaves them.
std::string hdf5_shuffled(std::string_view bytes, std::size_t value_bytes);

/// Columns of {key, label, image, note}, of values of any length.
struct Hdf5TestSample {
  std::string key;
  std::int64_t label = 0;
  std::string image, note{};
};
std::vector<Hdf5TestDataset> hdf5_datasets_of(const std::vector<Hdf5TestSample>& samples);

}  // namespace stoker
