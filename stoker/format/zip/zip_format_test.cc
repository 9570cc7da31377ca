#include "stoker/format/zip/zip_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/zip/zip_testing.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A line for each sample: "key label field=content ...".
std::vector<std::string> samples_of(const std::string& bytes, ShardNotes* notes = nullptr) {
  MemorySource source("x.zip", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const std::unique_ptr<ShardScan> scan = ZipFormat().scan(source, {});
  std::vector<std::string> lines;
  for (SampleRow row; scan->next(row);) {
    std::string line = fmt::format("{} {}", row.key, row.label);
    for (const SampleField& field : row.fields) {
      std::vector<std::uint8_t> content(field.length);
      EXPECT_EQ(field.part, "");
      read_fully(*row.source, field.offset, content);
      line += fmt::format(" {}={}", field.name, as_text(content));
    }
    lines.push_back(line);
  }
  ShardNotes taken = scan->take_notes();
  if (notes) *notes = std::move(taken);
  return lines;
}

std::string fault(const std::string& bytes) {
  const Error error = error_of([&] { samples_of(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData) << error.message();
  EXPECT_THAT(error.message(), HasSubstr("'x.zip"));
  return error.message();
}

/// The bytes with a number in place of the one at `at`.
std::string with_number(std::string bytes, std::size_t at, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * i & 255);
  return bytes;
}

// Stored and deflated, with a descriptor, with zip64's numbers, and with comments.
const std::vector<TestZipMember> kMembers = {
    {.name = "dog/2.jpg", .content = "two"},
    {.name = "cat/"},
    {.name = "cat/1.jpg", .content = "one", .deflate = true, .comment = "a comment"},
    {.name = "cat/1.json", .content = "{}", .descriptor = true},
    {.name = "cat/deep/3.PNG", .content = "three", .deflate = true, .descriptor = true},
    {.name = "dog/4.webp", .content = "four", .deflate = true, .zip64 = true},
    {.name = "README", .content = "passed over"},
};

TEST(ZipFormat, FindsTheSamplesOfAFolder) {
  for (const bool zip64 : {false, true}) {
    for (const std::string& comment : {std::string(), std::string("it ends\0here", 12), std::string(65535, 'c')}) {
      for (const std::string& prefix : {std::string(), std::string("#!/bin/sh\n")}) {
        ShardNotes notes;
        const std::string bytes = TestZip{kMembers, comment, prefix, zip64}.bytes();
        EXPECT_THAT(samples_of(bytes, &notes), ElementsAre("cat/1 0 jpg=one json={}", "cat/deep/3 0 png=three",
                                                           "dog/2 1 jpg=two", "dog/4 1 webp=four"));
        EXPECT_THAT(notes.classes, ElementsAre("cat", "dog"));
        EXPECT_THAT(notes.problems, ElementsAre());
        ASSERT_NE(notes.blocks, nullptr);
        EXPECT_EQ(notes.blocks->size(), 3u) << "the deflated ones";
      }
    }
  }
}

TEST(ZipFormat, KnowsTheChecksumsOfMembers) {
  for (const bool deflate : {false, true}) {
    const std::string bytes = TestZip{{{.name = "a.jpg", .content = "right", .deflate = deflate},
                                       {.name = "b.jpg", .content = "wrong", .deflate = deflate, .crc32 = 5}}}
                                  .bytes();
    MemorySource source("x.zip", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    const std::unique_ptr<ShardScan> scan = ZipFormat().scan(source, {});
    std::string content(5, '?');
    const MutableBytes into(reinterpret_cast<std::uint8_t*>(content.data()), content.size());
    SampleRow row;
    ASSERT_TRUE(scan->next(row));
    read_checked(row, row.fields[0], into);
    EXPECT_EQ(content, "right");
    ASSERT_TRUE(scan->next(row));
    const Error error = error_of([&] { read_checked(row, row.fields[0], into); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("the checksum (CRC-32) that the shard has of its 5 bytes"));
  }
}

TEST(ZipFormat, NeedsNoBlocksForStoredMembers) {
  ShardNotes notes;
  EXPECT_THAT(samples_of(TestZip{{{.name = "1.jpg", .content = "one"}}}.bytes(), &notes), ElementsAre("1 -1 jpg=one"));
  EXPECT_EQ(notes.blocks, nullptr);
  EXPECT_THAT(samples_of(TestZip{}.bytes()), ElementsAre());
}

TEST(ZipFormat, TakesLabelsFromFilesWhereThereAreNoClasses) {
  EXPECT_THAT(samples_of(TestZip{{{.name = "b.png", .content = "B"},
                                  {.name = "b.cls", .content = "12\n", .deflate = true},
                                  {.name = "a.jpg", .content = "A"},
                                  {.name = "a.cls", .content = std::string(5000, '1'), .deflate = true}}}
                             .bytes()),
              ElementsAre("a -1 cls=" + std::string(5000, '1') + " jpg=A", "b 12 cls=12\n png=B"));
}

TEST(ZipFormat, ReadsMembersCompressedByZstd) {
  const std::string content(3000, 'z');
  const std::vector<std::uint8_t> stored = compressed_by_zstd(as_bytes(content));
  EXPECT_THAT(
      samples_of(
          TestZip{{{.name = "1.jpg", .content = std::string(as_text(stored)), .method = 93, .length = 3000}}}.bytes()),
      ElementsAre("1 -1 jpg=" + content));
}

TEST(ZipFormat, SaysWhatItPassesOver) {
  ShardNotes notes;
  EXPECT_THAT(samples_of(TestZip{{{.name = "cat/1.jpg", .content = "one"},
                                  {.name = "cat/2.jpg", .content = "1.jpg", .unix_mode = 0120777},
                                  {.name = "cat/3.heic", .content = "three"},
                                  {.name = "cat/.hidden.jpg", .content = "x"},
                                  {.name = "__MACOSX/cat/._1.jpg", .content = "x"},
                                  {.name = "__stoker__/index.jpg", .content = "x"},
                                  {.name = "../4.jpg", .content = "x"},
                                  {.name = "/5/5.jpg", .content = "x"},
                                  {.name = "cat/./6.jpg", .content = "x"}}}
                             .bytes(),
                         &notes),
              ElementsAre("cat/1 0 jpg=one"));
  EXPECT_THAT(notes.classes, ElementsAre("cat"));
  EXPECT_THAT(notes.problems, ElementsAre(AllOf(HasSubstr("1 HEIC picture"), HasSubstr("cat/3.heic")),
                                          AllOf(HasSubstr("3 misplaced members"), HasSubstr("../4.jpg")),
                                          AllOf(HasSubstr("1 symbolic link"), HasSubstr("cat/2.jpg"))));
}

TEST(ZipFormat, RefusesWhatItCannotRead) {
  const auto with = [](const TestZipMember& member) { return TestZip{{member}}.bytes(); };
  EXPECT_THAT(fault(with({.name = "1.jpg", .content = "secret", .flags = 1})), HasSubstr("'1.jpg' is encrypted"));
  EXPECT_THAT(fault(with({.name = "1.jpg", .flags = 1 << 13})), HasSubstr("encrypted"));
  EXPECT_THAT(fault(with({.name = "1.jpg", .content = "BZh", .method = 12})),
              HasSubstr("'1.jpg' is compressed by bzip2"));
  EXPECT_THAT(fault(with({.name = "1.jpg", .content = "?", .method = 77})), HasSubstr("method 77"));
  EXPECT_THAT(fault(with({.name = "a/readme.txt", .content = "x"})), HasSubstr("'x.zip/a' contains no image"));
  EXPECT_THAT(samples_of(TestZip{{{.name = "1.txt", .content = "BZh", .method = 12}}}.bytes()), ElementsAre())
      << "no sample has it";
}

TEST(ZipFormat, RefusesBombs) {
  const auto with = [](const TestZipMember& member) { return fault(TestZip{{member}}.bytes()); };
  EXPECT_THAT(with({.name = "1.jpg", .content = "x", .length = 2}), HasSubstr("stored as it is"));
  EXPECT_THAT(with({.name = "1.jpg", .content = "x", .deflate = true, .length = 10'000}),
              HasSubstr("more than deflate can make of them"));
  EXPECT_THAT(with({.name = "1.jpg", .content = "x", .method = 93, .length = (1 << 30) + 1}),
              HasSubstr("the limit is 1073741824 bytes"));
  EXPECT_THAT(with({.name = "1.jpg", .content = "xyz", .deflate = true, .length = 4}), HasSubstr("damaged"));
  EXPECT_THAT(with({.name = "1.jpg", .content = "xyz", .deflate = true, .zip64 = true, .length = INT64_MAX}),
              HasSubstr("more than deflate can make of them"));

  // Two members that share their bytes, as the bombs do that grow with their square.
  const std::string bytes = TestZip{{{.name = "1.jpg", .content = "one"}, {.name = "1.jpg", .content = "one"}}}.bytes();
  const std::size_t second = bytes.rfind("PK\1\2");
  EXPECT_THAT(fault(with_number(bytes, second + 42, 0, 4)), HasSubstr("'1.jpg' and '1.jpg' overlap at byte 0"));
}

TEST(ZipFormat, RefusesLyingNumbers) {
  const std::string bytes = TestZip{{{.name = "1.jpg", .content = "one"}, {.name = "2.jpg", .content = "two"}}}.bytes();
  const std::size_t entry = bytes.find("PK\1\2"), end = bytes.find("PK\5\6");
  const auto said = [&](std::size_t at, std::uint64_t value, int count) {
    return fault(with_number(bytes, at, value, count));
  };
  EXPECT_THAT(said(end + 10, 3, 2), HasSubstr("has 2 members and says that there are 3"));
  EXPECT_THAT(said(end + 12, 0xffff, 4), HasSubstr("reach past byte"));
  EXPECT_THAT(said(end + 12, 60, 4), HasSubstr("no entry of its directory"));
  EXPECT_THAT(said(end + 16, end, 4), HasSubstr("reach past byte"));
  EXPECT_THAT(said(end + 4, 1, 2), HasSubstr("several parts"));
  EXPECT_THAT(said(entry + 28, 60000, 2), HasSubstr("ends within the entry"));
  EXPECT_THAT(said(entry + 42, 1, 4), HasSubstr("no header of '1.jpg' at byte 1"));
  EXPECT_THAT(said(entry + 42, 0xfffffff0, 4), HasSubstr("no header of '1.jpg'"));
  EXPECT_THAT(said(entry + 20, 4, 4), HasSubstr("stored as it is"));
  EXPECT_THAT(said(entry + 46, 'x', 1), HasSubstr("says something else than the directory"));
  EXPECT_THAT(said(28, 60000, 2), HasSubstr("reach into the directory"));

  const std::string big = TestZip{kMembers, "", "", true}.bytes();
  const std::size_t locator = big.find("PK\6\7"), end64 = big.find("PK\6\6");
  EXPECT_THAT(fault(with_number(big, end64, 0, 4)), HasSubstr("zip64 record"));
  EXPECT_THAT(samples_of(with_number(big, locator + 8, ~std::uint64_t{0}, 8)).size(), 4u) << "where it belongs";
  EXPECT_THAT(fault(with_number(big, end64 + 40, ~std::uint64_t{0}, 8)), HasSubstr("reach past byte"));
  EXPECT_THAT(fault(with_number(big, end64 + 48, ~std::uint64_t{0}, 8)), HasSubstr("reach past byte"));
  EXPECT_THAT(fault(with_number(big, end64 + 20, 2, 4)), HasSubstr("several parts"));
  EXPECT_THAT(fault(with_number(big, end64 + 32, 1, 8)), HasSubstr("says that there are 1"));
}

TEST(ZipFormat, RefusesAMemberThatIsThereTwice) {
  EXPECT_THAT(fault(TestZip{{{.name = "1.jpg", .content = "one"}, {.name = "1.jpg", .content = "two"}}}.bytes()),
              HasSubstr("it has '1.jpg' twice, at bytes 0 and 38"));
  EXPECT_THAT(samples_of(TestZip{{{.name = "a/"}, {.name = "a/"}, {.name = "a/1.jpg", .content = "one"}}}.bytes()),
              ElementsAre("a/1 0 jpg=one"));
}

TEST(ZipFormat, NamesTheFileWhereverItIsCut) {
  const std::string bytes = TestZip{kMembers, "comment"}.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(fault(bytes.substr(0, length)), HasSubstr("truncated")) << length;
  }
}

TEST(ZipFormat, StaysInsideWhateverBitFlips) {
  std::string bytes = TestZip{kMembers, "c", "", true}.bytes();
  int sound = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      samples_of(bytes);
      ++sound;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("'x.zip"));
    }
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
  EXPECT_GT(sound, 0);
}

}  // namespace
}  // namespace stoker
