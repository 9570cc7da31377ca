#include "stoker/format/hdf5/hdf5_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/hdf5/hdf5_extensible_array.h"
#include "stoker/format/hdf5/hdf5_tree.h"

namespace stoker {
namespace {

constexpr std::string_view kChunkNode = "a node of the index of chunks";

class ChunkReader {
 public:
  ChunkReader(Hdf5File& file, const Hdf5Dataset& dataset, std::uint64_t chunk_bytes)
      : file_(file), dataset_(dataset), chunk_bytes_(chunk_bytes), is_filtered_(!dataset.filters.empty()) {
    const std::uint64_t rows = dataset.rows(), per_chunk = dataset.layout.chunk.front();
    count_ = rows / per_chunk + (rows % per_chunk == 0 ? 0 : 1);
    if (count_ > file.size()) {
      fail(ErrorKind::kData, "'{}' is truncated or damaged: dataset '{}' would have {} chunks, and the file has {}",
           file.name(), dataset.name, count_, byte_count(file.size()));
    }
    if (count_ > kHdf5ChunksMax) {
      fail(ErrorKind::kLimit, "'{}': dataset '{}' has {} chunks; the limit is {}", file.name(), dataset.name, count_,
           kHdf5ChunksMax);
    }
  }

  std::vector<Hdf5Chunk> read() {
    const Hdf5Layout& layout = dataset_.layout;
    chunks_.resize(static_cast<std::size_t>(count_));
    if (layout.address == kHdf5Nowhere || count_ == 0) return std::move(chunks_);
    switch (layout.index) {
      case Hdf5ChunkIndex::kTree: read_tree(layout.address, std::nullopt); break;
      case Hdf5ChunkIndex::kSingle: read_single(); break;
      case Hdf5ChunkIndex::kImplicit: read_implicit(); break;
      case Hdf5ChunkIndex::kFixedArray: read_fixed_array(); break;
      case Hdf5ChunkIndex::kExtensibleArray: {
        Hdf5ExtensibleArray array(file_, layout.address, chunk_bytes_, is_filtered_);
        const std::uint64_t stride = elements_between();
        for (std::size_t i = 0; i < chunks_.size(); ++i) chunks_[i] = array.element(i * stride);
        break;
      }
      case Hdf5ChunkIndex::kNewTree: read_new_tree(); break;
    }
    return std::move(chunks_);
  }

 private:
  void read_single() {
    const Hdf5Layout& layout = dataset_.layout;
    if (count_ > 1) {
      fail(ErrorKind::kData, "'{}' is damaged: dataset '{}' says that it has one chunk, but {} rows need {}",
           file_.name(), dataset_.name, dataset_.rows(), count_);
    }
    chunks_[0] = {.address = layout.address,
                  .bytes = layout.is_single_filtered ? layout.single_bytes : chunk_bytes_,
                  .mask = layout.is_single_filtered ? layout.single_mask : ~std::uint32_t{0}};
  }

  void read_implicit() {
    const std::uint64_t step = chunk_bytes_ * elements_between();
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      chunks_[i] = {.address = layout_address() + i * step, .bytes = chunk_bytes_};
    }
  }

  /// Chunks that a step along the first axis passes over in arrays, which leave room for the largest shape.
  std::uint64_t elements_between() const {
    std::uint64_t stride = 1;
    for (std::size_t axis = 1; axis < dataset_.shape.size(); ++axis) {
      const std::uint64_t most = dataset_.shape_max[axis], chunk = dataset_.layout.chunk[axis];
      if (most == kHdf5Nowhere) continue;
      const std::uint64_t along = most / chunk + (most % chunk == 0 ? 0 : 1);
      if (along == 0 || stride > file_.size() / along) {
        fail(ErrorKind::kData,
             "'{}' is truncated or damaged: dataset '{}' would have more chunks than the file has room "
             "for",
             file_.name(), dataset_.name);
      }
      stride *= along;
    }
    return stride;
  }

  void read_fixed_array() {
    constexpr std::string_view kWhat = "the array of a dataset's chunks";
    const std::size_t addresses = file_.address_bytes();
    Hdf5Fields header = file_.read_checked(layout_address(), 12 + file_.length_bytes() + addresses, kWhat);
    header.expect("FAHD");
    header.version(0, 0);
    header.skip(1);
    const std::size_t element = header.u8();
    const std::uint8_t page_bits = header.u8();
    const std::uint64_t elements = header.number(file_.length_bytes());
    const std::uint64_t block = header.address(addresses);
    const std::uint64_t stride = elements_between();
    if (element < addresses + (is_filtered_ ? 5 : 0) || element > addresses + 12 || page_bits > 31) {
      header.refuse("its elements have no usual size");
    }
    if (elements > file_.size() / element || count_ > elements / stride + 1 ||
        (count_ > 0 && (count_ - 1) * stride >= elements)) {
      header.refuse(fmt::format("it has {}, and {} rows need more", counted(elements, "element"), dataset_.rows()));
    }
    if (block == kHdf5Nowhere) return;
    const std::uint64_t prefix = 6 + addresses, page = std::uint64_t{1} << page_bits;
    if (elements <= page) {
      Hdf5Fields all = file_.read_checked(block, prefix + elements * element + 4, kWhat);
      all.expect("FADB");
      all.skip(prefix - 4);
      take_elements(all, 0, elements, element, stride);
      return;
    }
    const std::uint64_t pages = (elements + page - 1) / page, map_bytes = (pages + 7) / 8;
    Hdf5Fields head = file_.read_checked(block, prefix + map_bytes + 4, kWhat);
    head.expect("FADB");
    head.skip(prefix - 4);
    const Bytes map = head.take(static_cast<std::size_t>(map_bytes));
    for (std::uint64_t number = 0; number < pages; ++number) {
      if (!hdf5_bit(map, number)) continue;
      const std::uint64_t first = number * page, here = std::min(page, elements - first);
      const std::uint64_t at = block + prefix + map_bytes + 4 + number * (page * element + 4);
      Hdf5Fields some = file_.read_checked(at, here * element + 4, kWhat);
      take_elements(some, first, here, element, stride);
    }
  }

  void take_elements(Hdf5Fields& fields, std::uint64_t first, std::uint64_t count, std::size_t element,
                     std::uint64_t stride) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const Hdf5Chunk chunk = read_hdf5_element(fields, element, file_.address_bytes(), chunk_bytes_);
      if (i % stride == 0 && i / stride < count_) chunks_[static_cast<std::size_t>(i / stride)] = chunk;
    }
  }

  void read_tree(std::uint64_t address, std::optional<int> level) {
    constexpr int kLevelMax = 32;
    const std::size_t axes = dataset_.shape.size(), key_bytes = 8 + 8 * (axes + 1);
    const std::size_t head_bytes = 8 + 2 * file_.address_bytes();
    Hdf5Fields head = file_.read(address, head_bytes, kChunkNode);
    head.expect("TREE");
    if (head.u8() != 1) head.refuse("it is of another kind");
    const int own_level = head.u8();
    if (own_level > kLevelMax || (level && own_level != *level)) head.refuse("its level is not one below its parent's");
    const std::uint64_t children = head.u16();
    if (children == 0 && level) head.refuse("it is empty");
    // The key after the last child is not needed.
    Hdf5Fields node = file_.read(address, head_bytes + children * (key_bytes + file_.address_bytes()), kChunkNode);
    node.skip(head_bytes);
    for (std::uint64_t i = 0; i < children; ++i) {
      Hdf5Chunk chunk{.bytes = node.u32(), .mask = node.u32()};
      const std::uint64_t first_row = node.number(8);
      std::uint64_t others = 0;
      for (std::size_t axis = 1; axis <= axes; ++axis) others |= node.number(8);
      chunk.address = node.address(file_.address_bytes());
      if (own_level > 0) {
        read_tree(chunk.address, own_level - 1);
      } else if (others != 0 || first_row % dataset_.layout.chunk.front() != 0) {
        node.refuse("a chunk begins where none can");
      } else {
        keep(first_row / dataset_.layout.chunk.front(), chunk, node);
      }
    }
  }

  void read_new_tree() {
    constexpr std::uint8_t kPlain = 10, kFiltered = 11;
    const std::size_t axes = dataset_.shape.size();
    for_each_hdf5_record(file_, layout_address(), is_filtered_ ? kFiltered : kPlain, count_, [&](Bytes record) {
      Hdf5Fields fields(file_.name(), "the place of a chunk", 0, {record.begin(), record.end()});
      const std::size_t element = record.size() - std::min(record.size(), 8 * axes);
      const Hdf5Chunk chunk = read_hdf5_element(fields, element, file_.address_bytes(), chunk_bytes_);
      const std::uint64_t number = fields.number(8);
      std::uint64_t others = 0;
      for (std::size_t axis = 1; axis < axes; ++axis) others |= fields.number(8);
      if (others != 0) fields.refuse("a chunk begins where none can");
      keep(number, chunk, fields);
    });
  }

  /// Trees have chunks in order.
  void keep(std::uint64_t number, const Hdf5Chunk& chunk, const Hdf5Fields& found_in) {
    if (number < next_ || number >= count_) found_in.refuse("its chunks are not in order");
    chunks_[static_cast<std::size_t>(number)] = chunk;
    next_ = number + 1;
  }

  std::uint64_t layout_address() const { return dataset_.layout.address; }

  Hdf5File& file_;
  const Hdf5Dataset& dataset_;
  const std::uint64_t chunk_bytes_;
  const bool is_filtered_;
  std::uint64_t count_ = 0, next_ = 0;
  std::vector<Hdf5Chunk> chunks_;
};

}  // namespace

Hdf5Chunk read_hdf5_element(Hdf5Fields& fields, std::size_t element_bytes, std::size_t address_bytes,
                            std::uint64_t chunk_bytes) {
  constexpr std::size_t kMaskBytes = 4;
  if (element_bytes < address_bytes) fields.refuse("it has no room for an address");
  Hdf5Chunk chunk{.address = fields.address(address_bytes), .bytes = chunk_bytes};
  const std::size_t more = element_bytes - address_bytes;
  if (more == 0) return chunk;
  if (more <= kMaskBytes || more > 8 + kMaskBytes) fields.refuse("the size of its chunk is damaged");
  chunk.bytes = fields.number(more - kMaskBytes);
  chunk.mask = fields.u32();
  return chunk;
}

std::vector<Hdf5Chunk> read_hdf5_chunks(Hdf5File& file, const Hdf5Dataset& dataset, std::uint64_t chunk_bytes) {
  return ChunkReader(file, dataset, chunk_bytes).read();
}

}  // namespace stoker
