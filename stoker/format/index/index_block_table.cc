#include "stoker/format/index/index_block_table.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/index/index_layout.h"

namespace stoker {
namespace {

// A kind is a codec's number, or one of these: rows with heads, and packed values.
constexpr std::uint8_t kRowsKind = 255, kPackedKind = 254;

constexpr std::size_t kNumbersBytes = 24, kHeadLengthBytes = 4;
// Of packed values: the codec of their block and their coding, their width, and three more numbers.
constexpr std::size_t kPackedBytes = 1 + 1 + 4 + kNumbersBytes;
constexpr std::size_t kEntriesPerBlock = 65536;
constexpr std::size_t kBytesPerBlock = std::size_t{4} << 20;

}  // namespace

void append_block_table(const BlockTable& table, std::vector<std::uint8_t>& bytes, std::vector<std::size_t>& ends) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const BlockPlace entry = table[i];
    const auto append_numbers = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      for (const std::uint64_t number : {a, b, c}) append_little_endian(bytes, number);
    };
    const auto append = [&](std::uint8_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      bytes.push_back(kind);
      append_numbers(a, b, c);
    };
    if (const HeadedRows* const rows = entry.rows) {
      if (rows->head.size() > kIndexBlockBytesMax / 2) {
        fail(ErrorKind::kLimit,
             "a value of {} does not lie in the shard as one range, so the shard cannot have an index; it is scanned "
             "each time that it is opened",
             byte_count(rows->head.size()));
      }
      append(kRowsKind, rows->offset, rows->length, rows->count);
      append_little_endian(bytes, static_cast<std::uint32_t>(rows->head.size()));
      bytes.insert(bytes.end(), rows->head.begin(), rows->head.end());
    } else if (const PackedValues* const packed = entry.packed) {
      append(kPackedKind, packed->block.offset, packed->block.stored_length, packed->block.length);
      bytes.push_back(static_cast<std::uint8_t>(packed->block.codec));
      bytes.push_back(static_cast<std::uint8_t>(packed->coding));
      append_little_endian(bytes, packed->width);
      append_numbers(packed->skipped, packed->count, packed->dictionary);
    } else {
      const CompressedBlock& block = entry.block;
      append(static_cast<std::uint8_t>(block.codec), block.offset, block.stored_length, block.length);
    }
    if ((i + 1) % kEntriesPerBlock != 0 && bytes.size() - begin < kBytesPerBlock && i + 1 < table.size()) continue;
    ends.push_back(bytes.size());
    begin = bytes.size();
  }
}

bool read_block_table(Bytes bytes, BlockTable& into) {
  const auto take = [&](std::size_t count) {
    const Bytes taken = bytes.first(count);
    bytes = bytes.subspan(count);
    return taken;
  };
  const auto number_in = [](Bytes numbers, std::size_t i) {
    return load_little_endian<std::uint64_t>(numbers.data() + 8 * i);
  };
  while (!bytes.empty()) {
    if (bytes.size() < 1 + kNumbersBytes) return false;
    const std::uint8_t kind = take(1)[0];
    const Bytes numbers = take(kNumbersBytes);
    const std::uint64_t a = number_in(numbers, 0), b = number_in(numbers, 1), c = number_in(numbers, 2);
    if (kind == kRowsKind) {
      if (bytes.size() < kHeadLengthBytes) return false;
      const auto length = load_little_endian<std::uint32_t>(take(kHeadLengthBytes).data());
      if (length > bytes.size()) return false;
      const Bytes head = take(length);
      HeadedRows rows{.head = {head.begin(), head.end()}, .offset = a, .length = b, .count = c};
      if (fault_of_data([&] { into.add(std::move(rows)); })) return false;
      continue;
    }
    CompressedBlock block{.offset = a, .stored_length = b, .length = c};
    if (kind == kPackedKind) {
      if (bytes.size() < kPackedBytes) return false;
      const std::uint8_t codec = take(1)[0], coding = take(1)[0];
      if (codec >= kBlockCodecs || coding >= kPackedCodings) return false;
      block.codec = static_cast<BlockCodec>(codec);
      PackedValues packed{.block = block, .coding = static_cast<PackedValues::Coding>(coding)};
      packed.width = load_little_endian<std::uint32_t>(take(sizeof(packed.width)).data());
      const Bytes more = take(kNumbersBytes);
      packed.skipped = number_in(more, 0);
      packed.count = number_in(more, 1);
      packed.dictionary = static_cast<std::size_t>(number_in(more, 2));
      if (fault_of_data([&] { into.add(packed); })) return false;
      continue;
    }
    if (kind >= kBlockCodecs) return false;
    block.codec = static_cast<BlockCodec>(kind);
    if (fault_of_data([&] { into.add_numbered(block); })) return false;
  }
  return true;
}

}  // namespace stoker
