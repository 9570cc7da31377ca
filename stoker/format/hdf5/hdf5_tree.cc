#include "stoker/format/hdf5/hdf5_tree.h"

#include <bit>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kNodePrefixBytes = 6, kNodeChecksumBytes = 4;
constexpr std::uint16_t kTreeDepthMax = 16;

class Hdf5Records {
 public:
  Hdf5Records(Hdf5File& file, std::uint8_t kind, std::uint64_t records_max,
              const std::function<void(Bytes record)>& take)
      : file_(file), kind_(kind), left_(records_max), take_(take) {}

  void read(std::uint64_t address) {
    const std::uint64_t bytes = 22 + file_.address_bytes() + file_.length_bytes();
    Hdf5Fields header = file_.read_checked(address, bytes, "a B-tree");
    header.expect("BTHD");
    header.version(0, 0);
    if (header.u8() != kind_) header.refuse("it is of another kind");
    node_bytes_ = header.u32();
    record_bytes_ = header.u16();
    const std::uint16_t depth = header.u16();
    header.skip(2);
    const std::uint64_t root = header.address(file_.address_bytes());
    const std::uint64_t records = header.u16();
    if (root == kHdf5Nowhere) return;
    if (depth > kTreeDepthMax || record_bytes_ == 0 || node_bytes_ <= kNodePrefixBytes + kNodeChecksumBytes) {
      header.refuse("its sizes are not those of a tree");
    }
    set_levels(depth);
    walk(root, records, depth);
  }

 private:
  /// What a pointer to a node of that level has after the address.
  struct Level {
    std::size_t total_bytes = 0;
  };

  void set_levels(std::uint16_t depth) {
    const std::uint64_t room = node_bytes_ - kNodePrefixBytes - kNodeChecksumBytes;
    std::uint64_t total = room / record_bytes_;
    count_bytes_ = hdf5_bytes_for(total);
    levels_ = {{}};
    for (std::uint16_t level = 1; level <= depth; ++level) {
      const std::uint64_t pointer = file_.address_bytes() + count_bytes_ + levels_.back().total_bytes;
      const std::uint64_t most = room < pointer ? 0 : (room - pointer) / (record_bytes_ + pointer);
      // What overflows is more than any file has records, and is encoded in 8 bytes as it would be.
      const bool overflows = total > (UINT64_MAX - most) / (most + 1);
      total = overflows ? UINT64_MAX : (most + 1) * total + most;
      levels_.push_back({hdf5_bytes_for(total)});
    }
  }

  void walk(std::uint64_t address, std::uint64_t records, std::uint16_t level) {
    const std::uint64_t pointer =
        level == 0 ? 0 : file_.address_bytes() + count_bytes_ + levels_[level - std::size_t{1}].total_bytes;
    const std::uint64_t content = records * record_bytes_ + (level == 0 ? 0 : (records + 1) * pointer);
    Hdf5Fields node =
        file_.read_checked(address, kNodePrefixBytes + content + kNodeChecksumBytes, "a node of a B-tree");
    node.expect(level == 0 ? "BTLF" : "BTIN");
    node.version(0, 0);
    if (node.u8() != kind_) node.refuse("it is of another kind");
    if (content > node_bytes_) node.refuse("it has more than fits into a node");
    if (records > left_ || (level > 0 && records == 0)) node.refuse("the tree has more records than it can have");
    left_ -= records;
    std::vector<Bytes> own;
    for (std::uint64_t i = 0; i < records; ++i) own.push_back(node.take(record_bytes_));
    for (std::uint64_t i = 0; i <= records; ++i) {
      if (level > 0) {
        const std::uint64_t child = node.address(file_.address_bytes());
        const std::uint64_t count = node.number(count_bytes_);
        if (levels_[level - std::size_t{1}].total_bytes > 0) node.skip(levels_[level - std::size_t{1}].total_bytes);
        walk(child, count, static_cast<std::uint16_t>(level - 1));
      }
      if (i < records) take_(own[static_cast<std::size_t>(i)]);
    }
  }

  Hdf5File& file_;
  const std::uint8_t kind_;
  std::uint64_t left_;
  const std::function<void(Bytes record)>& take_;
  std::uint64_t node_bytes_ = 0;
  std::size_t record_bytes_ = 0, count_bytes_ = 1;
  std::vector<Level> levels_;
};

}  // namespace

std::size_t hdf5_bytes_for(std::uint64_t number_max) {
  const auto bits = static_cast<std::size_t>(std::bit_width(number_max));
  return bits == 0 ? 1 : (bits + 7) / 8;
}

void for_each_hdf5_record(Hdf5File& file, std::uint64_t address, std::uint8_t kind, std::uint64_t records_max,
                          const std::function<void(Bytes record)>& take) {
  Hdf5Records(file, kind, records_max, take).read(address);
}

}  // namespace stoker
