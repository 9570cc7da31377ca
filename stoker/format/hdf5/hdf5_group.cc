#include "stoker/format/hdf5/hdf5_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "stoker/base/error.h"
#include "stoker/format/field_names.h"
#include "stoker/format/hdf5/hdf5_tree.h"

namespace stoker {
namespace {

constexpr std::uint8_t kGroupTreeKind = 0, kLinkNamesKind = 5;
constexpr std::string_view kLinkMessage = "a link of a group";

class GroupReader {
 public:
  explicit GroupReader(Hdf5File& file) : file_(file) {}

  void read_table(const Hdf5Message& message) {
    Hdf5Fields fields = file_.read(message.address, message.bytes, "the symbol table of a group");
    const std::uint64_t tree = fields.address(file_.address_bytes());
    read_names(fields.address(file_.address_bytes()));
    read_tree(tree, -1);
  }

  void read_link(Hdf5Fields& fields) {
    fields.version(1, 1);
    const std::uint8_t flags = fields.u8();
    const std::uint8_t kind = (flags & 8) != 0 ? fields.u8() : 0;
    if ((flags & 4) != 0) fields.skip(8);
    if ((flags & 16) != 0) fields.skip(1);
    const std::uint64_t length = fields.number(std::size_t{1} << (flags & 3));
    if (length > fields.left() || length > kNameBytesMax) fields.refuse("its name is too long");
    const std::string_view name = as_text(fields.take(static_cast<std::size_t>(length)));
    kind == 0 ? add(std::string(name), fields.address(file_.address_bytes())) : pass_over();
  }

  void read_dense(const Hdf5Message& message) {
    Hdf5Fields info = file_.read(message.address, message.bytes, "what a group says of its links");
    info.version(0, 0);
    const std::uint8_t flags = info.u8();
    if ((flags & 1) != 0) info.skip(8);
    const std::uint64_t heap = info.address(file_.address_bytes());
    const std::uint64_t tree = info.address(file_.address_bytes());
    if (heap == kHdf5Nowhere) return;
    read_heap(heap);
    for_each_hdf5_record(file_, tree, kLinkNamesKind, kHdf5MembersMax, [&](Bytes record) { read_record(record); });
  }

  Hdf5Group take() {
    std::sort(group_.members.begin(), group_.members.end());
    return std::move(group_);
  }

 private:
  /// A fractal heap, as far as links are in one: its blocks, which grow, follow each other in the space of offsets.
  struct Heap {
    std::size_t offset_bytes = 0, length_bytes = 0;
    std::uint64_t width = 0, first_bytes = 0, direct_bytes_max = 0;
    std::uint64_t root = kHdf5Nowhere;
    std::uint64_t rows = 0;  // of blocks that the root leads to; 0: the root is the only block

    std::uint64_t block_bytes(std::uint64_t row) const { return row < 2 ? first_bytes : first_bytes << (row - 1); }
  };

  void add(std::string name, std::uint64_t address) {
    if (group_.members.size() + group_.links >= kHdf5MembersMax) {
      fail(ErrorKind::kLimit,
           "'{}' has a group of more than {} members; Stoker reads datasets that have a row for each "
           "sample, not one dataset for each",
           file_.name(), kHdf5MembersMax);
    }
    group_.members.push_back({std::move(name), address});
  }

  void pass_over() {
    if (++group_.links > kHdf5MembersMax) fail(ErrorKind::kLimit, "'{}' has a group of too many links", file_.name());
  }

  void read_names(std::uint64_t address) {
    constexpr std::string_view kWhat = "the names of a group";
    Hdf5Fields heap = file_.read(address, 8 + 2 * file_.length_bytes() + file_.address_bytes(), kWhat);
    heap.expect("HEAP");
    heap.version(0, 0);
    heap.skip(3);
    const std::uint64_t bytes = heap.number(file_.length_bytes());
    heap.skip(file_.length_bytes());
    Hdf5Fields names = file_.read(heap.address(file_.address_bytes()), bytes, kWhat);
    names_ = as_text(names.take(names.left()));
  }

  /// `level`: that the node must have; -1 for the root's, whatever it is.
  void read_tree(std::uint64_t address, int level) {
    constexpr std::string_view kWhat = "a node of a group";
    if (++nodes_ > kHdf5MembersMax) fail(ErrorKind::kLimit, "'{}' has a group of too many nodes", file_.name());
    const std::size_t head_bytes = 8 + 2 * file_.address_bytes();
    Hdf5Fields head = file_.read(address, head_bytes, kWhat);
    head.expect("TREE");
    if (head.u8() != kGroupTreeKind) head.refuse("it is of another kind");
    const int own_level = head.u8();
    if (level >= 0 && own_level != level) head.refuse("its level is not one below its parent's");
    const std::uint64_t children = head.u16();
    const std::uint64_t bytes = children * (file_.address_bytes() + file_.length_bytes());
    Hdf5Fields node = file_.read(address, head_bytes + bytes, kWhat);
    node.skip(head_bytes);
    for (std::uint64_t i = 0; i < children; ++i) {
      node.skip(file_.length_bytes());
      const std::uint64_t child = node.address(file_.address_bytes());
      own_level > 0 ? read_tree(child, own_level - 1) : read_symbols(child);
    }
  }

  void read_symbols(std::uint64_t address) {
    constexpr std::string_view kWhat = "a symbol table";
    constexpr std::size_t kHeadBytes = 8, kScratchBytes = 16;
    constexpr std::uint32_t kLinkByName = 2;
    if (++nodes_ > 2 * kHdf5MembersMax) fail(ErrorKind::kLimit, "'{}' has a group of too many nodes", file_.name());
    Hdf5Fields head = file_.read(address, kHeadBytes, kWhat);
    head.expect("SNOD");
    head.version(1, 1);
    head.skip(1);
    const std::uint64_t count = head.u16();
    const std::uint64_t entry = file_.length_bytes() + file_.address_bytes() + 8 + kScratchBytes;
    Hdf5Fields table = file_.read(address, kHeadBytes + count * entry, kWhat);
    table.skip(kHeadBytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t name = table.number(file_.length_bytes());
      const std::uint64_t object = table.address(file_.address_bytes());
      const std::uint32_t kind = table.u32();
      table.skip(4 + kScratchBytes);
      const std::size_t begin = static_cast<std::size_t>(std::min<std::uint64_t>(name, names_.size()));
      const std::string_view rest = std::string_view(names_).substr(begin, kNameBytesMax + 1);
      const std::size_t length = rest.find('\0');
      if (length == std::string_view::npos) {
        table.refuse(rest.size() > kNameBytesMax ? "a name is too long" : "a name lies outside of the heap of names");
      }
      if (kind == kLinkByName) {
        pass_over();
      } else {
        add(std::string(rest.substr(0, length)), object);
      }
    }
  }

  void read_heap(std::uint64_t address) {
    const std::size_t lengths = file_.length_bytes(), addresses = file_.address_bytes();
    const std::uint64_t bytes = 26 + 12 * lengths + 3 * addresses;
    Hdf5Fields header = file_.read(address, bytes, "the heap of a group's links");
    header.expect("FRHP");
    header.version(0, 0);
    header.skip(2);
    const bool is_filtered = header.u16() != 0;
    header.skip(1);
    const std::uint64_t object_bytes_max = header.u32();
    header.skip(10 * lengths + 2 * addresses);
    if (is_filtered) header.refuse("it is compressed, which Stoker does not read");
    file_.read_checked(address, bytes, "the heap of a group's links");
    heap_.width = header.u16();
    heap_.first_bytes = header.number(lengths);
    heap_.direct_bytes_max = header.number(lengths);
    const std::size_t offset_bits = header.u16();
    header.skip(2);
    heap_.root = header.address(addresses);
    heap_.rows = header.u16();
    const auto is_size = [](std::uint64_t size) { return std::has_single_bit(size) && size <= std::uint64_t{1} << 31; };
    if (!is_size(heap_.first_bytes) || !is_size(heap_.direct_bytes_max) || heap_.width == 0 || offset_bits == 0 ||
        offset_bits > 64 || heap_.direct_bytes_max < heap_.first_bytes) {
      header.refuse("its sizes are not those of a heap");
    }
    heap_.offset_bytes = (offset_bits + 7) / 8;
    const auto direct_bits = static_cast<std::size_t>(std::countr_zero(heap_.direct_bytes_max));
    heap_.length_bytes = std::min((direct_bits + 7) / 8, hdf5_bytes_for(object_bytes_max));
  }

  void read_record(Bytes record) {
    Hdf5Fields fields(file_.name(), "the place of a link", 0, {record.begin(), record.end()});
    fields.skip(4);
    constexpr std::uint8_t kKindMask = 0x30;
    if ((fields.u8() & kKindMask) != 0) fields.refuse("it is not in a block of the heap, where Stoker looks for it");
    const std::uint64_t offset = fields.number(heap_.offset_bytes);
    const std::uint64_t length = fields.number(heap_.length_bytes);
    Hdf5Fields link = file_.read(in_heap(offset, length, fields), length, kLinkMessage);
    read_link(link);
  }

  /// The address of these bytes of the heap.
  std::uint64_t in_heap(std::uint64_t offset, std::uint64_t length, const Hdf5Fields& record) {
    if (heap_.rows == 0) {
      if (offset > heap_.first_bytes || length > heap_.first_bytes - offset)
        record.refuse("it lies outside of the heap");
      file_.place(heap_.root, heap_.first_bytes, kLinkMessage);
      return heap_.root + offset;
    }
    std::uint64_t begin = 0;
    for (std::uint64_t row = 0; row < heap_.rows; ++row) {
      if (heap_.block_bytes(row) > heap_.direct_bytes_max) break;
      const std::uint64_t bytes = heap_.block_bytes(row);
      if (offset - begin >= heap_.width * bytes) {
        begin += heap_.width * bytes;
        continue;
      }
      const std::uint64_t column = (offset - begin) / bytes, in_block = (offset - begin) % bytes;
      if (length > bytes - in_block) break;
      const std::uint64_t at =
          5 + file_.address_bytes() + heap_.offset_bytes + (row * heap_.width + column) * file_.address_bytes();
      file_.place(heap_.root, at, kLinkMessage);
      Hdf5Fields entry = file_.read(heap_.root + at, file_.address_bytes(), "the list of a heap's blocks");
      const std::uint64_t block = entry.address(file_.address_bytes());
      file_.place(block, bytes, kLinkMessage);
      return block + in_block;
    }
    record.refuse("it lies outside of the blocks of the heap that Stoker reads");
  }

  Hdf5File& file_;
  Hdf5Group group_;
  std::string names_;
  std::size_t nodes_ = 0;
  Heap heap_;
};

}  // namespace

bool is_hdf5_group(const Hdf5Object& object) {
  return object.find(Hdf5MessageKind::kSymbolTable) || object.find(Hdf5MessageKind::kLinkInfo);
}

Hdf5Group read_hdf5_group(Hdf5File& file, const Hdf5Object& object) {
  GroupReader reader(file);
  if (const Hdf5Message* table = object.find(Hdf5MessageKind::kSymbolTable)) reader.read_table(*table);
  for (const Hdf5Message& message : object.messages()) {
    if (message.kind != Hdf5MessageKind::kLink) continue;
    Hdf5Fields fields = file.read(message.address, message.bytes, kLinkMessage);
    reader.read_link(fields);
  }
  if (const Hdf5Message* info = object.find(Hdf5MessageKind::kLinkInfo)) reader.read_dense(*info);
  return reader.take();
}

}  // namespace stoker
