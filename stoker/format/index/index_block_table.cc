#include "stoker/format/index/index_block_table.h"

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

constexpr std::size_t kOffsetAt = 0, kStoredLengthAt = 8, kLengthAt = 16, kCodecAt = 24, kEntryBytes = 25;
constexpr std::size_t kEntriesPerBlock = 65536;

}  // namespace

void append_block_table(const BlockTable& table, std::vector<std::uint8_t>& bytes, std::vector<std::size_t>& ends) {
  bytes.reserve(table.size() * kEntryBytes);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const CompressedBlock& block = table[i];
    append_little_endian(bytes, block.offset);
    append_little_endian(bytes, block.stored_length);
    append_little_endian(bytes, block.length);
    append_little_endian(bytes, static_cast<std::uint8_t>(block.codec));
    if ((i + 1) % kEntriesPerBlock == 0 || i + 1 == table.size()) ends.push_back(bytes.size());
  }
}

bool read_block_table(Bytes bytes, BlockTable& into) {
  if (bytes.size() % kEntryBytes != 0) return false;
  for (const std::uint8_t* entry = bytes.data(); entry != bytes.data() + bytes.size(); entry += kEntryBytes) {
    const std::uint8_t codec = entry[kCodecAt];
    if (codec == static_cast<std::uint8_t>(BlockCodec::kStored) || codec >= kBlockCodecs) return false;
    const CompressedBlock block{.offset = load_little_endian<std::uint64_t>(entry + kOffsetAt),
                                .stored_length = load_little_endian<std::uint64_t>(entry + kStoredLengthAt),
                                .length = load_little_endian<std::uint64_t>(entry + kLengthAt),
                                .codec = static_cast<BlockCodec>(codec)};
    if (fault_of_data([&] { into.add(block); })) return false;
  }
  return true;
}

}  // namespace stoker
