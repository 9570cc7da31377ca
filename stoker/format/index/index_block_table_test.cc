#include "stoker/format/index/index_block_table.h"

#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

TEST(IndexBlockTable, RefusesCompressedBlocksThatCannotBe) {
  BlockTable table(1000);
  table.add({.offset = 10, .stored_length = 9, .length = 20, .codec = BlockCodec::kZstd});
  table.close();
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> ends;
  append_block_table(table, bytes, ends);
  EXPECT_EQ(ends, std::vector<std::size_t>{25});
  EXPECT_EQ(bytes[0], 4) << "zstd";
  const auto is_read = [](std::vector<std::uint8_t> entry, std::uint64_t data_bytes, int at = 0, int value = -1) {
    if (value >= 0) entry[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(value);
    BlockTable into(data_bytes);
    return read_block_table(entry, into);
  };
  EXPECT_TRUE(is_read(bytes, 1000));
  EXPECT_TRUE(is_read(bytes, 19));
  EXPECT_FALSE(is_read(bytes, 18)) << "it reaches past the shard's end";
  EXPECT_FALSE(is_read(bytes, 1000, 24, 1)) << "it becomes more than a block may";
  EXPECT_FALSE(is_read(bytes, 1000, 0, 0)) << "stored as it is, but with two lengths";
  EXPECT_FALSE(is_read(bytes, 1000, 0, static_cast<int>(kBlockCodecs)));
  bytes.pop_back();
  EXPECT_FALSE(is_read(bytes, 1000)) << "cut short";
}

TEST(IndexBlockTable, KeepsRowsWithHeads) {
  BlockTable table(1000);
  const std::uint64_t block = table.add({.offset = 10, .stored_length = 9, .length = 20, .codec = BlockCodec::kZstd});
  const std::vector<HeadedRows> rows = {{.head = {1, 2, 3}, .offset = 100, .length = 9, .count = 100},
                                        {.head = {}, .offset = block + 5, .length = 3, .count = 5},
                                        {.head = std::vector<std::uint8_t>(5 << 20, 7)},
                                        {.head = {4}, .offset = 1000, .length = 0, .count = 1}};
  for (const HeadedRows& one : rows) table.add(one);
  table.close();
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> ends;
  append_block_table(table, bytes, ends);
  ASSERT_EQ(ends.size(), 2u) << "a block of an index has a limit";
  BlockTable found(1000);
  EXPECT_TRUE(read_block_table(Bytes(bytes).first(ends[0]), found));
  EXPECT_TRUE(read_block_table(Bytes(bytes).subspan(ends[0]), found));
  ASSERT_EQ(found.size(), 1 + rows.size());
  EXPECT_EQ(found[0].block, table[0].block);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(*found[i + 1].rows, rows[i]);
  EXPECT_EQ(found.end(), table.end());
  for (std::size_t length = 26; length < 25 + 29 + 3; ++length) {
    BlockTable into(1000);
    EXPECT_FALSE(read_block_table(Bytes(bytes).first(length), into)) << length;
  }
  BlockTable shorter(999);
  EXPECT_FALSE(read_block_table(Bytes(bytes).first(ends[0]), shorter)) << "rows reach past the shard's end";
  BlockTable large(1000);
  large.add({.head = std::vector<std::uint8_t>((32 << 20) + 1)});
  large.close();
  EXPECT_EQ(error_of([&] { append_block_table(large, bytes, ends); }).kind(), ErrorKind::kLimit);
}

TEST(IndexBlockTable, KeepsPackedValues) {
  BlockTable table(1000);
  table.add_numbered({.offset = 10, .stored_length = 80, .length = 80});
  const CompressedBlock zstd{.offset = 100, .stored_length = 9, .length = 20, .codec = BlockCodec::kZstd};
  const std::vector<PackedValues> all = {
      {.block = zstd, .skipped = 3, .count = 700, .width = 8},
      {.block = {.offset = 500, .stored_length = 40, .length = 40},
       .count = 9,
       .width = 4,
       .coding = PackedValues::Coding::kDeltas},
      {.block = zstd, .skipped = 4, .count = 8, .width = 2, .coding = PackedValues::Coding::kSplit}};
  for (const PackedValues& packed : all) table.add(packed);
  table.close();
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> ends;
  append_block_table(table, bytes, ends);
  BlockTable found(1000);
  ASSERT_TRUE(read_block_table(bytes, found));
  ASSERT_EQ(found.size(), 1 + all.size());
  EXPECT_EQ(found[0].block, table[0].block);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(*found[i + 1].packed, all[i]);
  EXPECT_EQ(found.end(), table.end());
  const std::size_t entry = (bytes.size() - 25) / 3;  // of packed values
  for (std::size_t length = 26; length < 25 + entry; ++length) {
    BlockTable into(1000);
    EXPECT_FALSE(read_block_table(Bytes(bytes).first(length), into)) << length;
  }
  for (const std::size_t at : {25, 26}) {  // the codec and the coding
    std::vector<std::uint8_t> damaged = bytes;
    damaged[25 + at] = 200;
    BlockTable into(1000);
    EXPECT_FALSE(read_block_table(damaged, into)) << at;
  }
}

}  // namespace
}  // namespace stoker
