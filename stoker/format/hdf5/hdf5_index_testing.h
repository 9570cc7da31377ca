// The indexes of chunks and the heaps of links of HDF5 files for tests, with small nodes, blocks and pages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/hdf5/hdf5_chunks.h"

namespace stoker {

/// Bytes, one after another.
struct Hdf5TestBytes {
  std::string bytes{};

  /// A number of so many bytes; those above 8 are zero.
  Hdf5TestBytes& u(std::uint64_t value, std::size_t count = 8) {
    for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i < 8 ? value >> 8 * i & 255 : 0);
    return *this;
  }
  Hdf5TestBytes& text(std::string_view text) {
    bytes += text;
    return *this;
  }
  std::string with_checksum() const { return bytes + Hdf5TestBytes().u(hdf5_checksum(as_bytes(bytes)), 4).bytes; }
};

/// Gives bytes their place in the file, and returns it.
using Hdf5TestAdd = std::function<std::uint64_t(const std::string& bytes)>;

struct Hdf5TestIndex {
  const std::vector<Hdf5Chunk>& chunks;
  Hdf5ChunkIndex index;
  bool is_filtered;
  std::size_t axes;
  std::uint64_t rows_per_chunk, chunk_bytes;
  std::size_t chunks_per_node;
};

/// Adds the index; what the layout's message says of it, with its address.
Hdf5TestBytes hdf5_test_index(const Hdf5TestIndex& index, const Hdf5TestAdd& add);

struct Hdf5TestHeap {
  std::uint64_t address = 0, tree = 0;
};

/// A fractal heap with these messages, and the B-tree of their places.
Hdf5TestHeap hdf5_test_heap(const std::vector<std::string>& messages, const Hdf5TestAdd& add);

}  // namespace stoker
