#include "stoker/format/index/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "stoker/base/allocations_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/index/index_testing.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_same_row(const SampleRow& got, const SampleRow& want) {
  EXPECT_EQ(got.key, want.key);
  EXPECT_EQ(got.label, want.label);
  EXPECT_EQ(got.facts, want.facts) << want.key;
  EXPECT_EQ(got.soundness, want.soundness);
  EXPECT_EQ(got.chunk_crcs, want.chunk_crcs);
  ASSERT_EQ(got.fields.size(), want.fields.size());
  for (std::size_t i = 0; i < want.fields.size(); ++i) {
    EXPECT_EQ(got.fields[i].name, want.fields[i].name);
    EXPECT_EQ(got.fields[i].part, "");
    EXPECT_EQ(got.fields[i].offset, want.fields[i].offset);
    EXPECT_EQ(got.fields[i].length, want.fields[i].length);
    EXPECT_EQ(got.fields[i].crc32c, want.fields[i].crc32c);
    EXPECT_EQ(got.fields[i].first_chunk, want.fields[i].first_chunk);
    EXPECT_EQ(got.fields[i].chunks, want.fields[i].chunks);
  }
}

/// Reads all there is to read; throws kData when anything is not as it was written.
void read_everything(std::vector<std::uint8_t> bytes) {
  const auto index = open_testing_index(std::move(bytes));
  SampleRow row;
  for (std::int64_t i = 0; i < index->size(); ++i) index->read(i, row);
  index->check_all();
}

TEST(ShardIndex, ReturnsEveryRowThatWasAdded) {
  for (const std::int64_t samples : {0, 1, 255, 256, 257, 1000}) {
    const auto index = open_testing_index(testing_index(samples));
    ASSERT_EQ(index->size(), samples);
    Fingerprint fingerprint;
    SampleRow row;
    for (std::int64_t i = 0; i < samples; ++i) {
      index->read(i, row);
      expect_same_row(row, testing_row(i));
      fingerprint.add(row.key, row.label, 900);
    }
    EXPECT_EQ(index->fingerprint().value(), fingerprint.value());
    EXPECT_EQ(index->bytes(), 1000u * static_cast<std::uint64_t>(samples));
    if (samples > 0) {
      EXPECT_THAT(index->field_names(), ElementsAre("jpg", "cls"));
    }
    index->check_all();
  }
}

TEST(ShardIndex, KeepsSamplesWithoutFieldsChunksOfRawOnesAndUnknownChecksums) {
  std::vector<SampleRow> rows(4);
  rows[0].key = "";
  rows[1].key = "raw";
  rows[1].label = INT64_MAX;
  rows[1].fields = {
      {.name = "a.npy", .part = {}, .offset = 0, .length = 2 * kChunkBytes + 1, .first_chunk = 0, .chunks = 3},
      {.name = "json", .part = {}, .offset = 5, .length = 0, .first_chunk = 3},
      {.name = "b.npy", .part = {}, .offset = 9, .length = kChunkBytes, .first_chunk = 3, .chunks = 1}};
  rows[1].chunk_crcs = {1, 2, 3, 0xffffffff};
  rows[2].key = std::string(5000, 'k');
  IndexWriter writer;
  for (const SampleRow& row : rows) writer.add(row);
  const auto index = open_testing_index(writer.finish({.data_bytes = 1 << 20}));
  SampleRow row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    index->read(static_cast<std::int64_t>(i), row);
    expect_same_row(row, rows[i]);
  }
  EXPECT_FALSE(index->trailer().has_checksums);
  EXPECT_FALSE(index->trailer().was_decoded);
  EXPECT_TRUE(open_testing_index(testing_index(5))->trailer().has_checksums);
  EXPECT_TRUE(open_testing_index(testing_index(5))->trailer().was_decoded);
}

TEST(ShardIndex, KeepsTheNamesOfClasses) {
  const std::vector<std::string> classes = {"cat", "", "a/b~c \"d\"", "caf\xe9", std::string(5000, 'k'), "cat"};
  const auto index_with = [](std::span<const std::string> names) {
    IndexWriter writer;
    for (std::int64_t i = 0; i < 300; ++i) writer.add(testing_row(i));
    return writer.finish({.data_bytes = 300'000, .content_tag = 1, .classes = names});
  };
  const std::vector<std::uint8_t> bytes = index_with(classes);
  const auto index = open_testing_index(bytes);
  EXPECT_EQ(index->class_names(), classes);
  EXPECT_THAT(index->field_names(), ElementsAre("jpg", "cls"));
  SampleRow row;
  index->read(299, row);
  expect_same_row(row, testing_row(299));
  index->check_all();
  EXPECT_EQ(index_with({}), testing_index(300)) << "no section for no names";
  EXPECT_TRUE(open_testing_index(testing_index(300))->class_names().empty());

  const auto name = std::search(bytes.begin(), bytes.end(), classes[2].begin(), classes[2].end());
  ASSERT_NE(name, bytes.end());
  for (const std::ptrdiff_t at : {-4, 0}) {  // the length in front, and the name
    std::vector<std::uint8_t> damaged = bytes;
    damaged[static_cast<std::size_t>(name - bytes.begin() + at)] ^= 1;
    EXPECT_THAT(error_of([&] { read_everything(damaged); }).message(), HasSubstr("its checksum at byte"));
  }
}

TEST(ShardIndex, KeepsTheCompressedBlocksThatFieldsLieIn) {
  constexpr std::size_t kBlocks = 65'536 + 3;  // more than one block of the index has
  constexpr std::uint64_t kBytes = 10 * kBlocks;
  BlockTable table(kBytes);
  SampleRow row;
  row.key = "in the last";
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    const auto codec = static_cast<BlockCodec>(1 + i % (kBlockCodecs - 1));
    row.fields = {{.name = "jpg",
                   .part = {},
                   .offset = table.add({.offset = 10 * i, .stored_length = 9, .length = 20 + i % 7, .codec = codec}),
                   .length = 20 + i % 7}};
  }
  table.close();
  IndexWriter writer, without;
  writer.add(row);
  without.add(row);
  const std::vector<std::uint8_t> bytes = writer.finish({.data_bytes = kBytes, .blocks = &table});
  const auto index = open_testing_index(bytes);
  index->check_all();
  ASSERT_NE(index->compressed_blocks(), nullptr);
  ASSERT_EQ(index->compressed_blocks()->size(), kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i) ASSERT_EQ((*index->compressed_blocks())[i].block, table[i].block);
  SampleRow found;
  index->read(0, found);
  EXPECT_EQ(found.fields.at(0).offset, row.fields[0].offset);
  EXPECT_EQ(index->compressed_blocks()->find(found.fields[0].offset)->number, kBlocks - 1);
  EXPECT_EQ(open_testing_index(testing_index(1))->compressed_blocks(), nullptr);
  EXPECT_EQ(error_of([&] { without.finish({.data_bytes = kBytes}); }).kind(), ErrorKind::kLimit);
}

TEST(ShardIndex, SaysWhereTheEntryPointsOfEachSampleLie) {
  constexpr std::int64_t kSamples = 2 * kRowsPerBlock + 9;
  const auto points_of = [](std::int64_t i) {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(i % 4 == 1 ? 0 : i % 50), static_cast<std::uint8_t>(i));
  };
  IndexWriter writer;
  for (std::int64_t i = 0; i < kSamples; ++i) writer.add(testing_row(i), points_of(i));
  const auto index = open_testing_index(writer.finish({.data_bytes = 1000 * kSamples}));
  index->check_all();
  SampleRow row;
  for (const int round : {0, 1}) {  // from the file, then from the cache
    for (std::int64_t i = 0; i < kSamples; ++i) {
      index->read(i, row);
      std::vector<std::uint8_t> got(row.entry_points.length);
      ASSERT_NE(row.entry_points_source, nullptr);
      read_fully(*row.entry_points_source, row.entry_points.offset, got);
      EXPECT_EQ(got, points_of(i)) << i << " in round " << round;
    }
  }
}

// Writers before this one put the rows first.
TEST(ShardIndex, ReadsSectionsInAnyOrder) {
  constexpr std::int64_t kSamples = kRowsPerBlock + 9;
  const std::vector<std::uint8_t> written = testing_index(kSamples);
  IndexTrailer trailer;
  ASSERT_EQ(read_trailer(Bytes(written).last(kIndexTrailerBytes), trailer), TrailerState::kGood);
  std::vector<IndexSection> sections = read_directory(
      Bytes(written).subspan(trailer.directory_offset, trailer.directory_bytes), trailer.directory_offset);
  std::sort(sections.begin(), sections.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  do {
    std::vector<std::uint8_t> bytes(kIndexMagic.begin(), kIndexMagic.end());
    std::vector<IndexSection> moved = sections;
    for (IndexSection& section : moved) {
      for (IndexBlockPlace& place : section.blocks) {
        const auto from = written.begin() + static_cast<std::ptrdiff_t>(place.offset);
        place.offset = bytes.size();
        bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(place.length));
      }
    }
    trailer.directory_offset = bytes.size();
    append_directory(bytes, moved);
    trailer.directory_hash = hash64(Bytes(bytes).subspan(trailer.directory_offset));
    append_trailer(bytes, trailer);
    const auto index = open_testing_index(std::move(bytes));
    index->check_all();
    SampleRow row;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      index->read(i, row);
      expect_same_row(row, testing_row(i));
    }
  } while (std::next_permutation(sections.begin(), sections.end(),
                                 [](const auto& a, const auto& b) { return a.kind < b.kind; }));
}

TEST(ShardIndex, NoticesEveryFlippedBit) {
  const std::vector<std::uint8_t> good = testing_index(300);
  read_everything(good);
  for (std::size_t bit = 0; bit < 8 * good.size(); bit += kSanitized ? 61 : 1) {
    std::vector<std::uint8_t> bytes = good;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1 << bit % 8);
    ASSERT_EQ(error_of([&] { read_everything(bytes); }).kind(), ErrorKind::kData) << "bit " << bit;
  }
}

TEST(ShardIndex, NoticesEveryTruncation) {
  const std::vector<std::uint8_t> good = testing_index(20);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::vector<std::uint8_t> bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_EQ(error_of([&] { read_everything(bytes); }).kind(), ErrorKind::kData) << length;
  }
}

// An index that is made to do harm has the right checksums.
TEST(ShardIndex, StaysWithinItsBytesWhateverTheySay) {
  const std::vector<std::uint8_t> good = testing_index(40);
  IndexTrailer trailer;
  ASSERT_EQ(read_trailer(Bytes(good).last(kIndexTrailerBytes), trailer), TrailerState::kGood);
  const std::vector<IndexSection> sections =
      read_directory(Bytes(good).subspan(trailer.directory_offset, trailer.directory_bytes), trailer.directory_offset);
  const auto section = std::find_if(sections.begin(), sections.end(),
                                    [](const IndexSection& one) { return one.kind == IndexSectionKind::kRows; });
  const IndexBlockPlace rows = section->blocks[0];
  int refused = 0, read = 0;
  for (std::uint64_t round = 0; round < rounds(2000u); ++round) {
    Random random(3, 0, round, 0);
    std::vector<std::uint8_t> block(good.begin() + static_cast<std::ptrdiff_t>(rows.offset),
                                    good.begin() + static_cast<std::ptrdiff_t>(rows.offset + rows.length));
    // Mostly where the counts and ends stand.
    const std::size_t reach = random.uniform() < 0.5 ? 16 : block.size();
    for (int change = 0; change < 2; ++change) {
      block[static_cast<std::size_t>(random.uniform() * static_cast<double>(reach))] =
          static_cast<std::uint8_t>(random.uniform() * 256);
    }
    try {
      const IndexBlock parsed(block, 40, {.names = 2, .data_bytes = trailer.data_bytes, .has_checksums = true});
      const std::vector<std::string> names = {"jpg", "cls"};
      SampleRow row;
      for (std::int64_t i = 0; i < 40; ++i) {
        parsed.read(i, names, row);
        for (const SampleField& field : row.fields) EXPECT_LE(field.offset + field.length, trailer.data_bytes);
      }
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(read, rounds(100));
}

TEST(ShardIndex, RefusesImagesWithoutPixelsOrComponents) {
  const auto none = [](auto change) {
    SampleRow row = testing_row(0);
    change(*row.facts);
    IndexWriter writer;
    writer.add(row);
    const auto index = open_testing_index(writer.finish({.data_bytes = 1000}));
    EXPECT_THAT(error_of([&] { index->read(0, row); }).what(), HasSubstr("an image"));
  };
  none([](ImageFacts& facts) { facts.width = 0; });
  none([](ImageFacts& facts) { facts.height = 0; });
  none([](ImageFacts& facts) { facts.components = 0; });
  none([](ImageFacts& facts) { facts.chroma_across = 0; });
  none([](ImageFacts& facts) { facts.chroma_down = 0; });
}

TEST(ShardIndex, PassesOverSectionsItDoesNotKnow) {
  // A section of another kind, and the rows in a version to come, stand before what this version reads.
  const std::vector<std::uint8_t> good = testing_index(3);
  IndexTrailer trailer;
  read_trailer(Bytes(good).last(kIndexTrailerBytes), trailer);
  std::vector<IndexSection> sections =
      read_directory(Bytes(good).subspan(trailer.directory_offset, trailer.directory_bytes), trailer.directory_offset);
  std::vector<std::uint8_t> bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(trailer.directory_offset));
  for (const auto kind : {IndexSectionKind{77}, IndexSectionKind::kRows}) {
    const std::vector<std::uint8_t> content = {1, 2, 3, 4, 5};
    sections.push_back({.kind = kind, .version = 9, .blocks = {{bytes.size(), content.size(), hash64(content)}}});
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  trailer.directory_offset = bytes.size();
  append_directory(bytes, sections);
  trailer.directory_bytes = bytes.size() - trailer.directory_offset;
  trailer.directory_hash = hash64(Bytes(bytes).subspan(trailer.directory_offset));
  append_trailer(bytes, trailer);
  const auto index = open_testing_index(bytes);
  SampleRow row;
  index->read(2, row);
  expect_same_row(row, testing_row(2));
  index->check_all();
  // They are checked all the same.
  bytes[trailer.directory_offset - 1] ^= 1;
  EXPECT_THAT(error_of([&] { open_testing_index(bytes)->check_all(); }).what(), HasSubstr("checksum"));
}

TEST(ShardIndex, RefusesMoreSamplesThanItHasBlocksFor) {
  std::vector<std::uint8_t> bytes = testing_index(kRowsPerBlock);
  std::uint8_t* trailer = bytes.data() + bytes.size() - kIndexTrailerBytes;
  store_little_endian(trailer + 72, std::uint64_t{kRowsPerBlock + 1});
  store_little_endian(trailer + 120, hash64(Bytes(trailer, 120)));
  EXPECT_THAT(error_of([&] { open_testing_index(bytes); }).what(), HasSubstr("too few blocks"));
}

TEST(ShardIndex, RefusesFieldNamesThatAreCutShort) {
  const auto open_with = [](const std::vector<std::uint8_t>& names) {
    std::vector<std::uint8_t> bytes(kIndexMagic.begin(), kIndexMagic.end());
    const IndexSection section{.kind = IndexSectionKind::kFieldNames,
                               .blocks = {{bytes.size(), names.size(), hash64(names)}}};
    bytes.insert(bytes.end(), names.begin(), names.end());
    IndexTrailer trailer{.directory_offset = bytes.size()};
    append_directory(bytes, {section});
    trailer.directory_bytes = bytes.size() - trailer.directory_offset;
    trailer.directory_hash = hash64(Bytes(bytes).subspan(trailer.directory_offset));
    append_trailer(bytes, trailer);
    return open_testing_index(std::move(bytes));
  };
  const std::vector<std::uint8_t> names = {3, 0, 0, 0, 'j', 'p', 'g', 2, 0, 0, 0, 't', 's'};
  EXPECT_THAT(open_with(names)->field_names(), ElementsAre("jpg", "ts"));
  for (const std::size_t length : {1, 3, 4, 6, 8, 10, 11, 12}) {
    const std::vector<std::uint8_t> cut(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THAT(error_of([&] { open_with(cut); }).what(), HasSubstr("cut short")) << length;
  }
}

TEST(ShardIndex, IsOfAnotherVersionBeforeItIsDamaged) {
  std::vector<std::uint8_t> bytes = testing_index(3);
  std::uint8_t* trailer = bytes.data() + bytes.size() - kIndexTrailerBytes;
  store_little_endian(trailer + 8, kIndexVersion + 1);
  store_little_endian(trailer + 120, hash64(Bytes(trailer, 120)));
  IndexTrailer ignored;
  EXPECT_EQ(read_trailer(Bytes(bytes).last(kIndexTrailerBytes), ignored), TrailerState::kOtherVersion);
}

TEST(ShardIndex, KeepsNoMoreBlocksThanItsCacheHolds) {
  // Room for two blocks of four.
  const std::vector<std::uint8_t> bytes = testing_index(4 * kRowsPerBlock);
  const auto index = open_testing_index(bytes, bytes.size() / 2 + 100);
  SampleRow row;
  for (std::uint64_t step = 0; step < 3000; ++step) {
    Random random(1, 0, step, 0);
    const auto i = static_cast<std::int64_t>(random.uniform() * 4 * kRowsPerBlock);
    index->read(i, row);
    expect_same_row(row, testing_row(i));
  }
}

TEST(ShardIndex, AllocatesNothingForRowsOfBlocksThatItHolds) {
  const auto index = open_testing_index(testing_index(kRowsPerBlock));
  SampleRow row;
  const auto read_all = [&] {
    for (std::int64_t i = 0; i < kRowsPerBlock; ++i) index->read(i, row);
  };
  read_all();
  const std::int64_t before = allocations_so_far();
  read_all();
  EXPECT_EQ(allocations_so_far(), before);
}

TEST(IndexFetch, LoadsTheBlocksOfManyRowsOnceEach) {
  struct Counting final : Source {
    explicit Counting(std::shared_ptr<Source> source) : inner(std::move(source)) {}
    const std::string& name() const override { return inner->name(); }
    std::uint64_t size(std::string_view part) const override { return inner->size(part); }
    void start(ReadRequest& request) override {
      ++reads;
      inner->start(request);
    }
    std::shared_ptr<Source> inner;
    int reads = 0;
  };
  const std::vector<std::uint8_t> bytes = testing_index(1000);
  const auto source = std::make_shared<Counting>(std::make_shared<MemorySource>("m", bytes));
  IndexPlace place{.source = source, .begin = 0, .trailer = {}};
  read_trailer(Bytes(bytes).last(kIndexTrailerBytes), place.trailer);
  const ShardIndex index(place, std::make_shared<IndexCache>(1 << 20));
  const int before = source->reads;
  IndexFetch fetch;
  for (const std::int64_t row : {999, 0, 1, 700, 2, 998}) index.prepare(row, fetch);
  fetch.run();
  EXPECT_EQ(source->reads - before, 3);
  SampleRow row;
  for (const std::int64_t i : {999, 0, 701}) index.read(i, row);
  EXPECT_EQ(source->reads - before, 3) << "nothing is left to be read";
  index.prepare(255, fetch);
  fetch.run();
  EXPECT_EQ(source->reads - before, 3);
}

TEST(Fingerprint, OfPartsJoinsToThatOfTheWhole) {
  const auto of = [](int begin, int end) {
    Fingerprint fingerprint;
    for (int i = begin; i < end; ++i) fingerprint.add(fmt::format("k{}", i), i, static_cast<std::uint64_t>(i) * 7);
    return fingerprint;
  };
  for (int cut = 0; cut <= 20; ++cut) {
    Fingerprint joined = of(0, cut);
    joined.append(of(cut, 20));
    EXPECT_EQ(joined.value(), of(0, 20).value());
    EXPECT_EQ(joined.samples(), 20);
  }
  Fingerprint swapped = of(10, 20);
  swapped.append(of(0, 10));
  EXPECT_NE(swapped.value(), of(0, 20).value());
}

}  // namespace
}  // namespace stoker
