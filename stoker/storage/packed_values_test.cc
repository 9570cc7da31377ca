#include "stoker/storage/packed_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using Coding = PackedValues::Coding;

/// A byte each, in groups of eight.
std::vector<std::uint8_t> numbers_of(const std::vector<std::uint8_t>& values) {
  const std::size_t groups = (values.size() + 7) / 8;
  std::vector<std::uint8_t> bytes{8};
  for (std::uint64_t header = groups * 2 + 1; header > 0; header >>= 7) {
    bytes.push_back(static_cast<std::uint8_t>((header & 0x7f) | (header >= 0x80 ? 0x80 : 0)));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

/// A shard with a dictionary and two pages of numbers that name its values: one compressed, one stored as it is.
struct NamedPages {
  static constexpr std::size_t kValues = 900, kLevels = 5;
  static constexpr std::uint32_t kWidth = 8;

  explicit NamedPages(bool compress_dictionary = true) {
    for (std::size_t i = 0; i < 200 * kWidth; ++i) dictionary.push_back(static_cast<std::uint8_t>(i * 7 + i / 256));
    if (compress_dictionary) {
      object.add(dictionary);
    } else {
      object.blocks.push_back(
          {.offset = object.bytes.size(), .stored_length = dictionary.size(), .length = dictionary.size()});
      object.bytes.insert(object.bytes.end(), dictionary.begin(), dictionary.end());
    }
    for (const bool is_compressed : {true, false}) {
      std::vector<std::uint8_t> numbers(kValues), page(kLevels, 0xee), want;
      for (std::size_t i = 0; i < kValues; ++i) {
        numbers[i] = static_cast<std::uint8_t>(i * i % (is_compressed ? 199 : 151));
        const auto value = dictionary.begin() + static_cast<std::ptrdiff_t>(numbers[i] * kWidth);
        want.insert(want.end(), value, value + kWidth);
      }
      const std::vector<std::uint8_t> packed = numbers_of(numbers);
      page.insert(page.end(), packed.begin(), packed.end());
      wanted.push_back(want);
      if (is_compressed) {
        object.add(page);
      } else {
        object.blocks.push_back({.offset = object.bytes.size(), .stored_length = page.size(), .length = page.size()});
        object.bytes.insert(object.bytes.end(), page.begin(), page.end());
      }
    }
    auto made = std::make_shared<BlockTable>(object.bytes.size());
    const std::size_t number = made->add_numbered(object.blocks[0]);
    for (const std::size_t page : {1, 2}) {
      places.push_back(made->add(PackedValues{.block = object.blocks[page],
                                              .skipped = kLevels,
                                              .count = kValues,
                                              .width = kWidth,
                                              .coding = Coding::kNamed,
                                              .dictionary = number}));
    }
    made->close();
    table = made;
  }

  std::vector<std::uint8_t> read(Source& source, std::size_t page, std::size_t begin, std::size_t length) const {
    std::vector<std::uint8_t> bytes(length);
    read_fully(source, places[page] + begin, bytes);
    return bytes;
  }
  bool is_right(Source& source, std::size_t page, std::size_t begin, std::size_t length) const {
    return std::equal(wanted[page].begin() + static_cast<std::ptrdiff_t>(begin),
                      wanted[page].begin() + static_cast<std::ptrdiff_t>(begin + length),
                      read(source, page, begin, length).begin());
  }

  ObjectOfBlocks object;
  std::vector<std::uint8_t> dictionary;
  std::vector<std::vector<std::uint8_t>> wanted;  // of each page
  std::vector<std::uint64_t> places;
  std::shared_ptr<const BlockTable> table;
};

TEST(PackedValues, AreReadAsPlainOnes) {
  for (const bool compress_dictionary : {true, false}) {
    const NamedPages pages(compress_dictionary);
    const auto counting = std::make_shared<FaultySource>(pages.object.source(), FaultyOptions{});
    const auto cache = std::make_shared<BlockCache>();
    BlockSource source(counting, pages.table, cache);
    for (const std::size_t page : {0, 1, 0}) {
      EXPECT_EQ(pages.read(source, page, 0, pages.wanted[page].size()), pages.wanted[page]);
      EXPECT_TRUE(pages.is_right(source, page, 801, 77)) << "also from the middle of a value on";
    }
    EXPECT_EQ(counting->started(), 3) << "the dictionary and two pages, once each";
    EXPECT_EQ(cache->bytes(), pages.dictionary.size() + 2 * pages.wanted[0].size());
    EXPECT_THAT(error_of([&] { pages.read(source, 0, pages.wanted[0].size() - 1, 2); }).message(),
                HasSubstr("too few"));
    EXPECT_EQ(status_in_child([&] { return pages.is_right(source, 0, 16, 800) ? 0 : 1; }), 0);
  }
}

// A page must not take the room in which its dictionary would be fetched.
TEST(PackedValues, AreReadHoweverLittleRoomThereIs) {
  for (const std::uint64_t room : {0, 1, 3000, 9000, 12000}) {
    const NamedPages pages;
    const auto cache = std::make_shared<BlockCache>(room, [] { return std::make_shared<ThreadExecutor>(3); });
    BlockSource source(pages.object.source(), pages.table, cache);
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
          Random random(thread, 0, 0, 0);
          for (int i = 0; i < 100; ++i) {
            const std::size_t begin = random.below(7000);
            if (!pages.is_right(source, random.below(2), begin, random.below(200))) ++wrong;
          }
        });
      }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(cache->bytes(), room);
  }
}

TEST(PackedValues, TellOfAFailureWhereverItIs) {
  for (const std::int64_t failing : {0, 1}) {  // the dictionary, the page
    const NamedPages pages;
    const auto faulty = std::make_shared<FaultySource>(pages.object.source(), FaultyOptions{.fail_reads = {failing}});
    BlockSource source(faulty, pages.table, std::make_shared<BlockCache>());
    EXPECT_EQ(error_of([&] { pages.read(source, 0, 0, 8); }).kind(), ErrorKind::kIo);
    EXPECT_TRUE(pages.is_right(source, 0, 0, 800));
  }
  for (const std::size_t block : {0, 1}) {
    NamedPages pages;
    pages.object.bytes[pages.object.blocks[block].offset] ^= 1;
    BlockSource source(pages.object.source(), pages.table, std::make_shared<BlockCache>());
    const Error error = error_of([&] { pages.read(source, 0, 0, 8); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.message(), HasSubstr(fmt::format("the block at byte {} cannot be read: its zstd data are damaged",
                                                       pages.object.blocks[block].offset)));
  }
  NamedPages pages;
  std::uint8_t& number = pages.object.bytes[pages.object.blocks[2].offset + NamedPages::kLevels + 10];
  number = 255;
  BlockSource source(pages.object.source(), pages.table, std::make_shared<BlockCache>());
  EXPECT_THAT(error_of([&] { pages.read(source, 1, 0, 8); }).message(),
              HasSubstr("it names value 255 of a dictionary that has 200"));
}

std::string why_not(const PackedValues& packed, const std::vector<std::uint8_t>& block, std::size_t bytes,
                    const std::vector<std::uint8_t>& dictionary = {}) {
  std::vector<std::uint8_t> into(bytes);
  const Error error = error_of([&] { unpack_values(packed, block, dictionary, into); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  return error.message();
}

TEST(PackedValues, AreUnpackedFromEachCoding) {
  const auto unpacked = [](const PackedValues& packed, const std::vector<std::uint8_t>& block, std::size_t bytes,
                           const std::vector<std::uint8_t>& dictionary = {}) {
    std::vector<std::uint8_t> into(bytes);
    unpack_values(packed, block, dictionary, into);
    return into;
  };
  using Values = std::vector<std::uint8_t>;
  EXPECT_EQ(unpacked({.skipped = 1, .width = 3, .coding = Coding::kNamed}, {99, 1, 6, 1, 2, 0}, 12, {1, 2, 3, 4, 5, 6}),
            (Values{4, 5, 6, 4, 5, 6, 4, 5, 6, 1, 2, 3}));
  const Values deltas = {0x80, 1, 4, 3, 0x02, 0x05, 0, 0, 0, 0};  // 1, then twice -3 more
  EXPECT_EQ(unpacked({.width = 4, .coding = Coding::kDeltas}, deltas, 12),
            (Values{1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xfb, 0xff, 0xff, 0xff}));
  EXPECT_EQ(unpacked({.width = 8, .coding = Coding::kDeltas}, deltas, 16),
            (Values{1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(unpacked({.skipped = 2, .width = 2, .coding = Coding::kSplit}, {9, 9, 1, 2, 3, 4, 5, 6}, 6),
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(unpacked({.width = 4}, {}, 0), Values{});
}

TEST(PackedValues, RefuseBlocksThatDoNotHoldThem) {
  EXPECT_THAT(why_not({.skipped = 3, .width = 4}, {1, 2}, 4), HasSubstr("ends before its values"));
  EXPECT_THAT(why_not({.width = 4}, {}, 4), HasSubstr("ends before its last value"));
  EXPECT_THAT(why_not({.width = 4}, {33, 2, 0}, 4), HasSubstr("numbers of 33 bits"));
  EXPECT_THAT(why_not({.width = 4}, {1, 2, 0}, 8, {1, 2, 3, 4}), HasSubstr("ends before its last value"));
  EXPECT_THAT(why_not({.width = 4}, {1, 2, 1}, 4, {1, 2, 3, 4}), HasSubstr("value 1 of a dictionary that has 1"));
  EXPECT_THAT(why_not({.width = 4, .coding = Coding::kDeltas}, {0x80, 1, 4, 2, 2, 5, 0, 0, 0, 0}, 12),
              HasSubstr("2 of 3 values"));
  EXPECT_THAT(why_not({.width = 4, .coding = Coding::kSplit}, {1, 2, 3, 4, 5}, 4), HasSubstr("5 bytes of 4"));
}

TEST(PackedValues, HaveAPlaceOnlyIfTheyCanBe) {
  BlockTable table(1000);
  const std::size_t dictionary = table.add_numbered({.offset = 3, .stored_length = 8, .length = 8});
  const CompressedBlock page{.offset = 50, .stored_length = 20, .length = 40, .codec = BlockCodec::kZstd};
  const auto why = [&](PackedValues packed) {
    const Error error = error_of([&] { table.add(packed); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.message();
  };
  const PackedValues good{.block = page, .skipped = 4, .count = 30, .width = 4, .dictionary = dictionary};
  EXPECT_EQ(table.add(good), 1000 + 8 + 2 * BlockTable::kGapBytes);
  PackedValues bad = good;
  bad.block.offset = 990;
  EXPECT_THAT(why(bad), HasSubstr("reach past the end"));
  bad = good;
  bad.skipped = 41;
  EXPECT_THAT(why(bad), HasSubstr("begin at byte 41 of 40"));
  bad = good;
  bad.width = 0;
  EXPECT_THAT(why(bad), HasSubstr("values of 0 bytes"));
  bad.width = 2;
  bad.coding = Coding::kDeltas;
  EXPECT_THAT(why(bad), HasSubstr("values of 2 bytes"));
  bad = good;
  bad.count = kBlockBytesMax / 4 + 1;
  EXPECT_THAT(why(bad), HasSubstr("the limit is"));
  bad = good;
  bad.dictionary = 1;
  EXPECT_THAT(why(bad), HasSubstr("dictionary is not among the blocks")) << "packed values are none";
  bad.dictionary = 99;
  EXPECT_THAT(why(bad), HasSubstr("dictionary is not among the blocks"));
  table.close();
  EXPECT_EQ(*table[1].packed, good);
  EXPECT_EQ(table[1].dictionary, table[0].block);
}

}  // namespace
}  // namespace stoker
