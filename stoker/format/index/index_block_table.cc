#include "stoker/format/index/index_block_table.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/index/index_layout.h"

namespace stoker {
namespace {

// A kind is a codec's number, or this one: rows with heads.
constexpr std::uint8_t kRowsKind = 255;

constexpr std::size_t kNumbersBytes = 24, kHeadLengthBytes = 4;
constexpr std::size_t kEntriesPerBlock = 65536;
constexpr std::size_t kBytesPerBlock = std::size_t{4} << 20;

}  // namespace

void append_block_table(const BlockTable& table, std::vector<std::uint8_t>& bytes, std::vector<std::size_t>& ends) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const BlockPlace entry = table[i];
    const auto append = [&](std::uint8_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      bytes.push_back(kind);
      for (const std::uint64_t number : {a, b, c}) append_little_endian(bytes, number);
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
  while (!bytes.empty()) {
    if (bytes.size() < 1 + kNumbersBytes) return false;
    const std::uint8_t kind = bytes[0];
    const auto number = [&](std::size_t i) { return load_little_endian<std::uint64_t>(bytes.data() + 1 + 8 * i); };
    const std::uint64_t a = number(0), b = number(1), c = number(2);
    bytes = bytes.subspan(1 + kNumbersBytes);
    if (kind == kRowsKind) {
      if (bytes.size() < kHeadLengthBytes) return false;
      const auto length = load_little_endian<std::uint32_t>(bytes.data());
      bytes = bytes.subspan(kHeadLengthBytes);
      if (length > bytes.size()) return false;
      const Bytes head = bytes.first(length);
      bytes = bytes.subspan(length);
      HeadedRows rows{.head = {head.begin(), head.end()}, .offset = a, .length = b, .count = c};
      if (fault_of_data([&] { into.add(std::move(rows)); })) return false;
      continue;
    }
    if (kind == static_cast<std::uint8_t>(BlockCodec::kStored) || kind >= kBlockCodecs) return false;
    const CompressedBlock block{.offset = a, .stored_length = b, .length = c, .codec = static_cast<BlockCodec>(kind)};
    if (fault_of_data([&] { into.add(block); })) return false;
  }
  return true;
}

}  // namespace stoker
