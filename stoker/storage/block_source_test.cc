#include "stoker/storage/block_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/pending.h"
#include "stoker/base/random.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kGap = BlockTable::kGapBytes;

std::vector<std::uint8_t> content_of(int block, std::size_t bytes) {
  std::vector<std::uint8_t> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::uint8_t>(i / 7 + i % 3 * 50 + block * 31u);
  return content;
}

/// An object of `count` blocks of so many bytes, and where they appear to lie.
struct Blocks {
  explicit Blocks(int count, std::size_t bytes) : block_bytes(bytes) {
    for (int i = 0; i < count; ++i) object.add(content_of(i, bytes));
  }

  std::uint64_t place(int block) const {
    return first_place(object.bytes.size()) + static_cast<std::uint64_t>(block) * (block_bytes + kGap);
  }

  ObjectOfBlocks object;
  std::size_t block_bytes;
};

std::vector<std::uint8_t> read(Source& source, std::uint64_t offset, std::size_t length) {
  std::vector<std::uint8_t> bytes(length);
  read_fully(source, offset, bytes);
  return bytes;
}

/// A read that a test starts and looks at later.
struct PendingRead {
  PendingRead(Source& source, std::uint64_t offset, std::size_t length, std::stop_token stop = {},
              std::int64_t deadline_ns = std::numeric_limits<std::int64_t>::max())
      : bytes(length) {
    request.offset = offset;
    request.into = Pieces(&piece, 1);
    request.stop = std::move(stop);
    request.deadline_ns = deadline_ns;
    start_pending(source, request, pending);
  }

  std::optional<ErrorKind> outcome() {
    pending.wait();
    if (!request.error) return std::nullopt;
    return error_of([&] { std::rethrow_exception(request.error); }).kind();
  }

  std::vector<std::uint8_t> bytes;
  MutableBytes piece = bytes;
  ReadRequest request;
  Pending pending;
};

TEST(BlockTable, GivesBlocksPlacesThatNoReadJoins) {
  BlockTable table(1000);
  EXPECT_EQ(table.add({.offset = 10, .stored_length = 50, .length = 200, .codec = BlockCodec::kZlib}), 1000 + kGap);
  EXPECT_EQ(table.add({.offset = 5, .stored_length = 7, .length = 7, .codec = BlockCodec::kStored}), 5u)
      << "where it is";
  EXPECT_EQ(table.add({.offset = 60, .stored_length = 940, .length = 0, .codec = BlockCodec::kZstd}), 1200 + 2 * kGap);
  table.close();
  EXPECT_EQ(table.size(), 2u);
  EXPECT_FALSE(table.is_beyond(1000 + kGap - 1));
  EXPECT_TRUE(table.is_beyond(1000 + kGap));
  EXPECT_FALSE(table.find(1000 + kGap - 1));
  EXPECT_EQ(table.find(1000 + kGap + 200)->offset, 200u) << "right after its last byte, where nothing can be read";
  EXPECT_FALSE(table.find(1000 + kGap + 201));
  EXPECT_EQ(table.find(1200 + 2 * kGap)->number, 1u);
  EXPECT_FALSE(table.find(1200 + 2 * kGap + 1));
  EXPECT_FALSE(table.find(~std::uint64_t{0}));
}

TEST(BlockTable, RefusesBlocksThatLie) {
  BlockTable table(1000);
  const auto why = [&](const CompressedBlock& block) {
    const Error error = error_of([&] { table.add(block); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.message();
  };
  EXPECT_THAT(why({1000, 1, 1, BlockCodec::kZstd}), HasSubstr("reach past the end"));
  EXPECT_THAT(why({1001, 0, 1, BlockCodec::kZstd}), HasSubstr("reach past the end"));
  EXPECT_THAT(why({~std::uint64_t{0}, 2, 1, BlockCodec::kZstd}), HasSubstr("reach past the end"));
  EXPECT_THAT(why({2, ~std::uint64_t{0}, 1, BlockCodec::kStored}), HasSubstr("reach past the end"));
  EXPECT_THAT(why({0, 5, 6, BlockCodec::kStored}), HasSubstr("5 bytes instead of 6"));
  EXPECT_THAT(why({0, 5, kBlockBytesMax + 1, BlockCodec::kZstd}), HasSubstr("the limit is"));
  EXPECT_NO_THROW(table.add(CompressedBlock{0, 5, kBlockBytesMax, BlockCodec::kZstd}));
}

TEST(BlockSource, ReadsBlocksAndTheObject) {
  const Blocks blocks(3, 5000);
  BlockSource source(blocks.object.source(), blocks.object.table(), std::make_shared<BlockCache>());
  EXPECT_EQ(source.size(), blocks.object.bytes.size());
  EXPECT_EQ(as_text(read(source, 0, 3)), "own");
  for (const int block : {2, 0, 1, 2}) {
    EXPECT_EQ(read(source, blocks.place(block), 5000), content_of(block, 5000));
    EXPECT_EQ(read(source, blocks.place(block) + 4999, 1), std::vector{content_of(block, 5000)[4999]});
    EXPECT_TRUE(read(source, blocks.place(block) + 5000, 0).empty());
  }
}

TEST(BlockSource, RefusesReadsThatLeaveABlock) {
  const Blocks blocks(2, 5000);
  BlockSource source(blocks.object.source(), blocks.object.table(), std::make_shared<BlockCache>());
  const auto why = [&](std::uint64_t offset, std::size_t length) {
    const Error error = error_of([&] { read(source, offset, length); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.message();
  };
  EXPECT_THAT(why(blocks.place(0) + 4999, 2), HasSubstr("'file.of.blocks' has 5000 bytes"));
  EXPECT_THAT(why(blocks.place(0) + 5001, 0), HasSubstr("no block"));
  EXPECT_THAT(why(blocks.place(0) - 1, 2), HasSubstr("too few"));
  EXPECT_THAT(why(blocks.place(1) + kGap, 1), HasSubstr("no block"));
}

TEST(BlockSource, FetchesABlockOnceWhileItIsKept) {
  const Blocks blocks(2, 5000);
  const auto counting = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{});
  const auto cache = std::make_shared<BlockCache>();
  {
    BlockSource source(counting, blocks.object.table(), cache);
    for (const int block : {0, 1, 0, 1, 0}) read(source, blocks.place(block) + 100, 50);
    EXPECT_EQ(counting->started(), 2);
    EXPECT_EQ(cache->bytes(), 10'000u);
  }
  EXPECT_EQ(cache->bytes(), 0u) << "the source is gone";
}

TEST(BlockSource, KeepsWhatWasUsedLastWithinItsBound) {
  const Blocks blocks(4, 5000);
  const auto counting = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{});
  const auto cache = std::make_shared<BlockCache>(10'000);
  BlockSource source(counting, blocks.object.table(), cache);
  const auto fetches = [&](int block) {
    const std::int64_t before = counting->started();
    EXPECT_EQ(read(source, blocks.place(block), 5000), content_of(block, 5000));
    EXPECT_LE(cache->bytes(), 10'000u);
    return counting->started() - before;
  };
  EXPECT_EQ(fetches(0), 1);
  EXPECT_EQ(fetches(1), 1);
  EXPECT_EQ(fetches(0), 0);
  EXPECT_EQ(fetches(2), 1);
  EXPECT_EQ(fetches(0), 0) << "it was used after 1";
  EXPECT_EQ(fetches(1), 1);
}

TEST(BlockSource, ReadsBlocksThatAreLargerThanTheBound) {
  const Blocks blocks(2, 5000);
  const auto cache = std::make_shared<BlockCache>(4999);
  BlockSource source(blocks.object.source(), blocks.object.table(), cache);
  for (const int block : {0, 1, 1}) {
    EXPECT_EQ(read(source, blocks.place(block), 5000), content_of(block, 5000));
    EXPECT_EQ(cache->bytes(), 0u);
  }
}

TEST(BlockSource, LetsReadsOfABlockWaitForTheOneFetch) {
  const Blocks blocks(1, 5000);
  const auto held = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{.hold = true});
  BlockSource source(held, blocks.object.table(), std::make_shared<BlockCache>());
  PendingRead first(source, blocks.place(0), 100), second(source, blocks.place(0) + 10, 100);
  held->wait_until_held(1);
  EXPECT_EQ(held->started(), 1);
  held->release_all();
  EXPECT_EQ(first.outcome(), std::nullopt);
  EXPECT_EQ(second.outcome(), std::nullopt);
  EXPECT_TRUE(std::equal(second.bytes.begin(), second.bytes.end(), content_of(0, 5000).begin() + 10));
}

TEST(BlockSource, FetchesNoMoreAtOnceThanItsBound) {
  const Blocks blocks(3, 5000);
  const auto held = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{.hold = true});
  BlockSource source(held, blocks.object.table(), std::make_shared<BlockCache>(6000));
  PendingRead first(source, blocks.place(0), 100), second(source, blocks.place(1), 100),
      third(source, blocks.place(2), 100);
  for (const std::int64_t started : {1, 2, 3}) {
    held->wait_until_held(1);
    EXPECT_EQ(held->started(), started);
    held->release(0);
  }
  for (PendingRead* one : {&first, &second, &third}) EXPECT_EQ(one->outcome(), std::nullopt);
  EXPECT_TRUE(std::equal(third.bytes.begin(), third.bytes.end(), content_of(2, 5000).begin()));
}

TEST(BlockSource, GoesOnForTheOthersWhenAReadIsStopped) {
  const Blocks blocks(1, 5000);
  const auto held = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{.hold = true});
  // Checks its request again after it was held, as sources do whose reads wait.
  struct Late final : Source {
    explicit Late(std::shared_ptr<FaultySource> in) : inner(std::move(in)) {}
    const std::string& name() const override { return inner->name(); }
    std::uint64_t size(std::string_view part) const override { return inner->size(part); }
    void start(ReadRequest& request) override {
      outer = &request;
      own.offset = request.offset;
      own.into = request.into;
      own.context = this;
      own.done = [](ReadRequest& one) noexcept {
        ReadRequest& ended = *static_cast<Late*>(one.context)->outer;
        ended.error = thrown_by([&] { require_wanted("late", ended); });
        ended.done(ended);
      };
      inner->start(own);
    }
    std::shared_ptr<FaultySource> inner;
    ReadRequest own;
    ReadRequest* outer = nullptr;
  };
  BlockSource source(std::make_shared<Late>(held), blocks.object.table(), std::make_shared<BlockCache>());
  std::stop_source stop;
  PendingRead first(source, blocks.place(0), 100, stop.get_token()), second(source, blocks.place(0), 100),
      third(source, blocks.place(0), 100, stop.get_token());
  held->wait_until_held(1);
  stop.request_stop();
  held->release(0);
  held->wait_until_held(1);
  EXPECT_EQ(first.outcome(), ErrorKind::kClosed);
  EXPECT_EQ(third.outcome(), ErrorKind::kClosed);
  held->release_all();
  EXPECT_EQ(second.outcome(), std::nullopt);
  EXPECT_TRUE(std::equal(second.bytes.begin(), second.bytes.end(), content_of(0, 5000).begin()));
}

TEST(BlockSource, TellsAllReadsThatWaitOfAFailureAndTriesAgainLater) {
  const Blocks blocks(1, 5000);
  const auto held =
      std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{.fail_reads = {0}, .hold = true});
  const auto cache = std::make_shared<BlockCache>();
  BlockSource source(held, blocks.object.table(), cache);
  PendingRead first(source, blocks.place(0), 100), second(source, blocks.place(0), 100);
  held->wait_until_held(1);
  held->release_all();
  EXPECT_EQ(first.outcome(), ErrorKind::kIo);
  EXPECT_EQ(second.outcome(), ErrorKind::kIo);
  EXPECT_EQ(cache->bytes(), 0u);
  EXPECT_EQ(read(source, blocks.place(0), 5000), content_of(0, 5000));
}

TEST(BlockSource, NamesTheFileAndTheBlockThatIsDamaged) {
  Blocks blocks(2, 5000);
  blocks.object.bytes[blocks.object.blocks[1].offset] ^= 1;
  BlockSource source(blocks.object.source(), blocks.object.table(), std::make_shared<BlockCache>());
  EXPECT_EQ(read(source, blocks.place(0), 5000), content_of(0, 5000));
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { read(source, blocks.place(1), 1); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.message(),
                HasSubstr(fmt::format("'file.of.blocks': the block at byte {} cannot be read: its zstd "
                                      "data are damaged",
                                      blocks.object.blocks[1].offset)));
  }
}

TEST(BlockSource, ReadsThroughManyThreadsAndAFewBlocks) {
  static constexpr int kBlocks = 20, kThreads = 4;
  const Blocks blocks(kBlocks, 3001);
  const auto cache = std::make_shared<BlockCache>(5 * 3001, [] { return std::make_shared<ThreadExecutor>(kThreads); });
  const auto faulty = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{.fail_probability = 0.1});
  BlockSource source(faulty, blocks.object.table(), cache);
  std::atomic<int> wrong = 0, failed = 0, right = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(thread, 0, 0, 0);
        for (int i = 0; i < 500; ++i) {
          const int block = static_cast<int>(random.below(kBlocks));
          const std::size_t begin = random.below(3001), length = random.below(3001 - begin);
          PendingRead one(source, blocks.place(block) + begin, length);
          if (one.outcome()) {
            ++failed;
            continue;
          }
          const std::vector<std::uint8_t> want = content_of(block, 3001);
          (std::equal(one.bytes.begin(), one.bytes.end(), want.begin() + static_cast<std::ptrdiff_t>(begin)) ? right
                                                                                                             : wrong)++;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(failed, 0);
  EXPECT_GT(right, 1000);
  EXPECT_LE(cache->bytes(), 5 * 3001u);
}

TEST(BlockSource, ReadsInAForkedChildWithoutTheCache) {
  const Blocks blocks(2, 5000);
  BlockSource source(blocks.object.source(), blocks.object.table(), std::make_shared<BlockCache>());
  read(source, blocks.place(0), 100);
  EXPECT_EQ(status_in_child([&] {
              const bool right = read(source, blocks.place(0), 5000) == content_of(0, 5000) &&
                                 read(source, blocks.place(1), 5000) == content_of(1, 5000);
              return right ? 0 : 1;
            }),
            0);
}

TEST(BlockSource, HintsAtTheBytesOfABlockThatIsNotHere) {
  struct Hinted final : Source {
    explicit Hinted(std::shared_ptr<Source> in) : inner(std::move(in)) {}
    const std::string& name() const override { return inner->name(); }
    std::uint64_t size(std::string_view part) const override { return inner->size(part); }
    void start(ReadRequest& request) override { inner->start(request); }
    void will_need(std::uint64_t offset, std::uint64_t length, std::string_view) override {
      hints.push_back({offset, length});
    }
    std::shared_ptr<Source> inner;
    std::vector<std::array<std::uint64_t, 2>> hints;
  };
  const Blocks blocks(1, 5000);
  const auto hinted = std::make_shared<Hinted>(blocks.object.source());
  BlockSource source(hinted, blocks.object.table(), std::make_shared<BlockCache>());
  const CompressedBlock& block = blocks.object.blocks[0];
  source.will_need(blocks.place(0) + 77, 10);
  source.will_need(1, 2);
  source.will_need(blocks.place(0) + 6000, 10);
  source.will_need(~std::uint64_t{0}, ~std::uint64_t{0});
  read(source, blocks.place(0), 1);
  source.will_need(blocks.place(0) + 77, 10);
  EXPECT_EQ(hinted->hints, (std::vector<std::array<std::uint64_t, 2>>{{block.offset, block.stored_length}, {1, 2}}));
}

TEST(BlockTable, RefusesRowsThatLie) {
  BlockTable table(1000);
  const std::uint64_t block = table.add({.offset = 0, .stored_length = 9, .length = 50, .codec = BlockCodec::kZstd});
  const auto why = [&](HeadedRows rows) { return error_of([&] { table.add(std::move(rows)); }).message(); };
  EXPECT_THAT(why({.offset = 1, .length = 10, .count = 100}), HasSubstr("do not fit into the 999 bytes"));
  EXPECT_THAT(why({.offset = 1, .length = 10, .count = ~std::uint64_t{0}}), HasSubstr("do not fit"));
  EXPECT_THAT(why({.offset = 1001, .length = 0, .count = 1}), HasSubstr("after the end"));
  EXPECT_THAT(why({.offset = block + 1, .length = 10, .count = 5}), HasSubstr("do not fit into the 49 bytes"));
  EXPECT_THAT(why({.offset = block + 51, .length = 1}), HasSubstr("do not fit into the 0 bytes"));
  EXPECT_THAT(why({.head = {1, 2}, .length = 0, .count = ~std::uint64_t{0}}), HasSubstr("more rows"));
  for (const std::uint64_t count : {0, 1}) {
    const Error nothing = error_of([&] { table.add(HeadedRows{.offset = 1, .count = count}); });
    EXPECT_EQ(nothing.kind(), ErrorKind::kData);
    EXPECT_THAT(nothing.message(), HasSubstr("rows have no bytes"));
  }
  EXPECT_THAT(why({.head = {1}, .length = ~std::uint64_t{0}, .count = 0}), HasSubstr("more than there are offsets"));
  EXPECT_THAT(why({.head = {1}, .length = INT64_MAX, .count = 0}), HasSubstr("more than there are offsets"));
  const std::uint64_t rows = table.add({.offset = block, .length = 10, .count = 5});
  EXPECT_THAT(why({.offset = rows, .length = 10, .count = 5}), HasSubstr("do not fit into the 0 bytes"))
      << "rows of rows";
}

/// What the rows of a table become, all together.
std::vector<std::uint8_t> bytes_of(const HeadedRows& rows, Bytes ranges) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    bytes.insert(bytes.end(), rows.head.begin(), rows.head.end());
    const Bytes range = ranges.subspan(row * rows.length, rows.length);
    bytes.insert(bytes.end(), range.begin(), range.end());
  }
  return bytes;
}

TEST(BlockSource, ReadsRowsWithTheirHeads) {
  ObjectOfBlocks object;
  object.bytes = content_of(1, 3000);
  object.add(content_of(2, 3000));
  BlockTable* const table = new BlockTable(object.bytes.size());
  const std::shared_ptr<const BlockTable> shared(table);
  const std::uint64_t block = table->add(object.blocks[0]);
  const HeadedRows plain{.head = {'h', 'e', 'a', 'd'}, .offset = 100, .length = 70, .count = 40};
  const HeadedRows in_block{.head = {'h'}, .offset = block + 10, .length = 5, .count = 500};
  const HeadedRows bare{.offset = 7, .length = 100, .count = 3}, alone{.head = content_of(9, 500)};
  struct Case {
    std::uint64_t place;
    std::vector<std::uint8_t> want;
  };
  const std::vector<std::uint8_t> first = content_of(1, 3000), second = content_of(2, 3000);
  const std::vector<Case> cases = {{table->add(plain), bytes_of(plain, Bytes(first).subspan(100))},
                                   {table->add(in_block), bytes_of(in_block, Bytes(second).subspan(10))},
                                   {table->add(bare), bytes_of(bare, Bytes(first).subspan(7))},
                                   {table->add(alone), content_of(9, 500)}};
  table->close();
  BlockSource source(object.source(), shared, std::make_shared<BlockCache>());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [place, want] = cases[i];
    EXPECT_EQ(read(source, place, want.size()), want) << "all of case " << i;
    for (std::uint64_t trial = 0; trial < 200; ++trial) {
      Random random(i, 0, trial, 0);
      const std::size_t begin = random.below(want.size());
      std::vector<std::uint8_t> memory(want.size() - begin, 0xcd), expected = memory;
      std::vector<MutableBytes> into;
      std::size_t at = 0;
      for (std::uint64_t pieces = random.below(6); pieces > 0; --pieces) {
        const std::size_t size = random.below(std::min<std::uint64_t>(200, memory.size() - at) + 1);
        const bool wanted = random.below(2) == 0;
        into.push_back(wanted ? MutableBytes(memory).subspan(at, size) : hole(size));
        if (wanted) {
          std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(begin + at), size,
                      expected.begin() + static_cast<std::ptrdiff_t>(at));
        }
        at += size;
      }
      ReadRequest request;
      request.offset = place + begin;
      request.into = into;
      Pending pending;
      start_pending(source, request, pending);
      pending.wait();
      ASSERT_FALSE(request.error);
      ASSERT_EQ(memory, expected) << "trial " << trial << " of case " << i;
    }
  }
  const Error error = error_of([&] { read(source, cases[0].place, cases[0].want.size() + 1); });
  EXPECT_THAT(error.message(), HasSubstr("too few"));
}

TEST(BlockSource, EndsReadsOfNoBytesAtOnce) {
  const Blocks blocks(1, 5000);
  const auto counting = std::make_shared<FaultySource>(blocks.object.source(), FaultyOptions{});
  const auto table = std::make_shared<BlockTable>(blocks.object.bytes.size());
  const std::uint64_t block = table->add(blocks.object.blocks[0]);
  const std::uint64_t rows = table->add(HeadedRows{.head = {1}, .length = 2, .count = 3});
  const std::uint64_t none = table->add(HeadedRows{.head = {1}, .length = 2, .count = 0});
  table->close();
  BlockSource source(counting, table, std::make_shared<BlockCache>());
  std::uint8_t kept = 7;
  for (const std::uint64_t place : {block, block + 5000, rows, rows + 1, rows + 9, none}) {
    read_fully(source, place, {&kept, 0});
  }
  EXPECT_EQ(counting->started(), 0);
  EXPECT_EQ(kept, 7);
  EXPECT_EQ(error_of([&] { read_fully(source, none, {&kept, 1}); }).kind(), ErrorKind::kData);
}

TEST(BlockSource, TellsOfAFailureToReadRows) {
  const auto faulty = std::make_shared<FaultySource>(std::make_shared<MemorySource>("m", content_of(1, 3000)),
                                                     FaultyOptions{.fail_reads = {0}});
  auto table = std::make_shared<BlockTable>(3000);
  const std::uint64_t place = table->add(HeadedRows{.head = {1}, .offset = 0, .length = 10, .count = 300});
  BlockSource source(faulty, table, std::make_shared<BlockCache>());
  EXPECT_EQ(error_of([&] { read(source, place, 20); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(read(source, place + 22, 11).size(), 11u);
  EXPECT_EQ(status_in_child([&] { return read(source, place + 1, 10) == read(*faulty, 0, 10) ? 0 : 1; }), 0);
}

TEST(BlockPlaces, AreReadWhileMoreAreAdded) {
  const Blocks blocks(3, 5000);
  const auto object = blocks.object.source();
  BlockPlaces places(*object);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t place = places.add(blocks.object.blocks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(place, blocks.place(i));
    EXPECT_EQ(read(places.source(), place, 5000), content_of(i, 5000));
  }
  const Error error = error_of([&] {
    places.add(CompressedBlock{blocks.object.bytes.size(), 1, 1, BlockCodec::kLz4});
  });
  EXPECT_THAT(error.message(), HasSubstr("'file.of.blocks': the block at byte"));
  EXPECT_EQ(places.take()->size(), 3u);
  BlockPlaces none(*object);
  EXPECT_EQ(none.add({.offset = 1, .stored_length = 2, .length = 2, .codec = BlockCodec::kStored}), 1u);
  EXPECT_EQ(none.take(), nullptr);
  BlockPlaces copies(*object);
  const std::uint64_t copy = copies.add_copy(as_bytes("a copy"));
  EXPECT_EQ(as_text(read(copies.source(), copy + 2, 4)), "copy");
}

}  // namespace
}  // namespace stoker
