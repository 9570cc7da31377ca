#include "stoker/format/hdf5/hdf5_index_testing.h"

#include <algorithm>
#include <bit>

namespace stoker {
namespace {

constexpr std::size_t kPageBits = 2, kPage = 4;  // elements of a page

std::string test_element(const Hdf5TestIndex& index, std::size_t number) {
  const Hdf5Chunk chunk = number < index.chunks.size() ? index.chunks[number] : Hdf5Chunk{};
  Hdf5TestBytes bytes;
  bytes.u(chunk.address);
  // One more than the size of a whole chunk needs.
  const std::size_t size_bytes = 1 + (static_cast<std::size_t>(std::bit_width(index.chunk_bytes)) + 7) / 8;
  if (index.is_filtered) bytes.u(chunk.bytes, size_bytes).u(chunk.mask, 4);
  return bytes.bytes;
}

std::string test_elements(const Hdf5TestIndex& index, std::size_t first, std::size_t count) {
  std::string bytes;
  for (std::size_t i = first; i < first + count; ++i) bytes += test_element(index, i);
  return bytes;
}

std::size_t element_bytes(const Hdf5TestIndex& index) { return test_element(index, 0).size(); }

/// Nodes of a few chunks, and nodes above them until there is one.
std::uint64_t add_old_tree(const Hdf5TestIndex& index, const Hdf5TestAdd& add) {
  struct Child {
    std::string key;
    std::uint64_t address;
  };
  const auto key_of = [&](std::size_t number, const Hdf5Chunk& chunk) {
    return Hdf5TestBytes()
        .u(chunk.bytes, 4)
        .u(chunk.mask, 4)
        .u(number * index.rows_per_chunk)
        .u(0, 8 * index.axes)
        .bytes;
  };
  std::vector<Child> level;
  for (std::size_t i = 0; i < index.chunks.size(); ++i) {
    if (index.chunks[i].address != kHdf5Nowhere) level.push_back({key_of(i, index.chunks[i]), index.chunks[i].address});
  }
  const std::string end = key_of(index.chunks.size(), {});
  for (std::uint64_t depth = 0;; ++depth) {
    std::vector<Child> above;
    for (std::size_t begin = 0; begin < std::max<std::size_t>(level.size(), 1); begin += index.chunks_per_node) {
      const std::size_t stop = std::min(level.size(), begin + index.chunks_per_node);
      Hdf5TestBytes node;
      node.text("TREE").u(1, 1).u(depth, 1).u(stop - begin, 2).u(kHdf5Nowhere).u(kHdf5Nowhere);
      for (std::size_t i = begin; i < stop; ++i) node.text(level[i].key).u(level[i].address);
      node.text(stop < level.size() ? level[stop].key : end);
      above.push_back({begin < level.size() ? level[begin].key : end, add(node.bytes)});
    }
    if (above.size() == 1) return above[0].address;
    level = std::move(above);
  }
}

/// What leads to the header of the array must be known before it is there.
std::uint64_t add_fixed_array(const Hdf5TestIndex& index, const Hdf5TestAdd& add) {
  const std::size_t count = index.chunks.size(), pages = (count + kPage - 1) / kPage;
  Hdf5TestBytes block;
  block.text("FADB").u(0, 1).u(index.is_filtered, 1).u(0);  // Stoker does not look at the way back to the header
  std::string bytes;
  if (count <= kPage) {
    bytes = block.text(test_elements(index, 0, count)).with_checksum();
  } else {
    std::string map((pages + 7) / 8, '\0');
    for (std::size_t i = 0; i < pages; ++i) map[i / 8] = static_cast<char>(map[i / 8] | 0x80 >> i % 8);
    bytes = block.text(map).with_checksum();
    for (std::size_t i = 0; i < pages; ++i) {
      const std::size_t here = std::min(kPage, count - i * kPage);
      bytes += Hdf5TestBytes().text(test_elements(index, i * kPage, here)).with_checksum();
    }
  }
  Hdf5TestBytes header;
  header.text("FAHD").u(0, 1).u(index.is_filtered, 1).u(element_bytes(index), 1).u(kPageBits, 1).u(count).u(add(bytes));
  return add(header.with_checksum());
}

/// Two elements in the index block, data blocks of 2 and more, super blocks of their own from the third on.
std::uint64_t add_extensible_array(const Hdf5TestIndex& index, const Hdf5TestAdd& add) {
  constexpr std::size_t kInIndex = 2, kLeast = 2, kLeastBlocks = 2, kBits = 16;
  constexpr std::size_t kOwnSuperBlocks = 2, kSuperBlocks = 1 + kBits - 1;
  const auto begin = [&](std::string_view mark) {
    return Hdf5TestBytes().text(mark).u(0, 1).u(index.is_filtered, 1).u(0);
  };
  std::size_t next = kInIndex;
  const auto add_data_block = [&](std::size_t elements) {
    if (next >= index.chunks.size()) return kHdf5Nowhere;
    Hdf5TestBytes block = begin("EADB").u(next, kBits / 8);
    std::string bytes;
    if (elements <= kPage) {
      bytes = block.text(test_elements(index, next, elements)).with_checksum();
    } else {
      bytes = block.with_checksum();
      for (std::size_t at = 0; at < elements; at += kPage) {
        bytes += Hdf5TestBytes().text(test_elements(index, next + at, kPage)).with_checksum();
      }
    }
    next += elements;
    return add(bytes);
  };
  Hdf5TestBytes block = begin("EAIB");
  block.text(test_elements(index, 0, kInIndex));
  std::vector<std::uint64_t> super_blocks;
  for (std::size_t s = 0; s < kSuperBlocks; ++s) {
    const std::size_t blocks = std::size_t{1} << s / 2, elements = kLeast << (s + 1) / 2;
    Hdf5TestBytes super = begin("EASB").u(next, kBits / 8), addresses;
    const bool is_needed = next < index.chunks.size();
    std::size_t written = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      written += next < index.chunks.size() ? 1 : 0;
      addresses.u(add_data_block(elements));
    }
    if (s < kOwnSuperBlocks) {
      block.text(addresses.bytes);
      continue;
    }
    const std::size_t pages = elements > kPage ? elements / kPage : 0;
    std::string map(blocks * ((pages + 7) / 8), '\0');
    for (std::size_t i = 0; i < written * pages; ++i) map[i / 8] = static_cast<char>(map[i / 8] | 0x80 >> i % 8);
    super_blocks.push_back(is_needed ? add(super.text(map).text(addresses.bytes).with_checksum()) : kHdf5Nowhere);
  }
  for (const std::uint64_t super : super_blocks) block.u(super);
  Hdf5TestBytes header;
  header.text("EAHD").u(0, 1).u(index.is_filtered, 1).u(element_bytes(index), 1).u(kBits, 1).u(kInIndex, 1);
  header.u(kLeast, 1).u(kLeastBlocks, 1).u(kPageBits, 1).u(0, 48).u(add(block.with_checksum()));
  return add(header.with_checksum());
}

/// A root that is a leaf; of more records than three, a root over leaves of three records, with one between two leaves.
std::uint64_t add_new_tree(const std::vector<std::string>& records, std::uint8_t kind, const Hdf5TestAdd& add) {
  constexpr std::size_t kInLeaf = 3, kNodeBytes = 4096;
  const auto node = [&](std::string_view mark) { return Hdf5TestBytes().text(mark).u(0, 1).u(kind, 1); };
  const auto leaf = [&](std::size_t first, std::size_t count) {
    Hdf5TestBytes bytes = node("BTLF");
    for (std::size_t i = first; i < first + count; ++i) bytes.text(records[i]);
    return add(bytes.with_checksum());
  };
  const std::size_t record_bytes = records.empty() ? 1 : records[0].size();
  std::uint64_t root = kHdf5Nowhere;
  std::size_t in_root = records.size(), depth = 0;
  if (records.size() <= kInLeaf) {
    if (!records.empty()) root = leaf(0, records.size());
  } else {
    depth = 1;
    in_root = 0;
    Hdf5TestBytes bytes = node("BTIN"), children;
    for (std::size_t first = 0; first <= records.size(); first += kInLeaf + 1) {
      const std::size_t count = std::min(kInLeaf, records.size() - first);
      const std::size_t width = (kNodeBytes - 10) / record_bytes > 255 ? 2 : 1;
      children.u(leaf(first, count)).u(count, width);
      if (first + count == records.size()) break;
      bytes.text(records[first + count]);
      ++in_root;
    }
    root = add(bytes.text(children.bytes).with_checksum());
  }
  Hdf5TestBytes header;
  header.text("BTHD").u(0, 1).u(kind, 1).u(kNodeBytes, 4).u(record_bytes, 2).u(depth, 2).u(100, 1).u(40, 1);
  return add(header.u(root).u(in_root, 2).u(records.size()).with_checksum());
}

}  // namespace

Hdf5TestBytes hdf5_test_index(const Hdf5TestIndex& index, const Hdf5TestAdd& add) {
  Hdf5TestBytes said;
  switch (index.index) {
    case Hdf5ChunkIndex::kTree: return said.u(add_old_tree(index, add));
    case Hdf5ChunkIndex::kSingle:
      if (index.is_filtered) said.u(index.chunks[0].bytes).u(index.chunks[0].mask, 4);
      return said.u(index.chunks[0].address);
    case Hdf5ChunkIndex::kImplicit: return said.u(index.chunks[0].address);
    case Hdf5ChunkIndex::kFixedArray: return said.u(kPageBits, 1).u(add_fixed_array(index, add));
    case Hdf5ChunkIndex::kExtensibleArray:
      return said.u(16, 1).u(2, 1).u(2, 1).u(2, 1).u(kPageBits, 1).u(add_extensible_array(index, add));
    case Hdf5ChunkIndex::kNewTree: {
      std::vector<std::string> records;
      for (std::size_t i = 0; i < index.chunks.size(); ++i) {
        if (index.chunks[i].address == kHdf5Nowhere) continue;
        records.push_back(Hdf5TestBytes().text(test_element(index, i)).u(i).u(0, 8 * (index.axes - 1)).bytes);
      }
      return said.u(4096, 4).u(100, 1).u(40, 1).u(add_new_tree(records, index.is_filtered ? 11 : 10, add));
    }
  }
  return said;
}

Hdf5TestHeap hdf5_test_heap(const std::vector<std::string>& messages, const Hdf5TestAdd& add) {
  constexpr std::size_t kWidth = 2, kFirst = 128,
                        kPrefix = 17;  // of a block: the mark, the header's address, its place
  std::vector<std::string> blocks, records;
  std::size_t begin = 0;  // of the last block in the space of the heap
  const auto bytes_of = [&](std::size_t block) { return block < 2 * kWidth ? kFirst : kFirst << (block / kWidth - 1); };
  for (const std::string& message : messages) {
    while (blocks.empty() || blocks.back().size() + message.size() > bytes_of(blocks.size() - 1)) {
      if (!blocks.empty()) begin += bytes_of(blocks.size() - 1);
      blocks.push_back(Hdf5TestBytes().text("FHDB").u(0, 1).u(0).u(begin, 4).bytes);
    }
    records.push_back(Hdf5TestBytes().u(0, 4).u(0, 1).u(begin + blocks.back().size(), 4).u(message.size(), 2).bytes);
    blocks.back() += message;
  }
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].resize(bytes_of(i));
    places.push_back(add(blocks[i]));
  }
  const std::size_t rows = blocks.size() <= 1 ? 0 : (blocks.size() + kWidth - 1) / kWidth;
  std::uint64_t root = places.empty() ? kHdf5Nowhere : places[0];
  if (rows > 0) {
    Hdf5TestBytes indirect;
    indirect.text("FHIB").u(0, 1).u(0).u(0, 4);
    for (std::size_t i = 0; i < rows * kWidth; ++i) indirect.u(i < places.size() ? places[i] : kHdf5Nowhere);
    root = add(indirect.with_checksum());
  }
  static_assert(kPrefix == 4 + 1 + 8 + 4);
  Hdf5TestBytes header;
  header.text("FRHP").u(0, 1).u(7, 2).u(0, 2).u(0, 1).u(4096, 4).u(0).u(kHdf5Nowhere).u(0).u(kHdf5Nowhere).u(0, 64);
  header.u(kWidth, 2).u(kFirst).u(65536).u(32, 2).u(1, 2).u(root).u(rows, 2);
  return {.address = add(header.with_checksum()), .tree = add_new_tree(records, 5, add)};
}

}  // namespace stoker
