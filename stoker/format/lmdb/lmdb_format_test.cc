#include "stoker/format/lmdb/lmdb_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/lmdb/lmdb_page.h"
#include "stoker/format/lmdb/lmdb_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/scan_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kLmdbJpeg =
    "\xff\xd8\xff"
    "photograph";
const std::string kLmdbPng = "\x89PNG\r\n\x1a\n...";

/// "key label field=content ..." of each sample.
std::vector<std::string> lmdb_listing(const std::string& bytes, ShardNotes* notes = nullptr,
                                      const std::string& name = "data/train/data.mdb") {
  MemorySource source(name, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const std::unique_ptr<ShardScan> scan = LmdbFormat().scan(source, {});
  return scan_listing(*scan, notes);
}

std::string lmdb_refusal(const std::string& bytes) {
  const Error error = error_of([&] { lmdb_listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'data/train/data.mdb'"));
  return error.message();
}

template <typename Integer>
std::string with_number(std::string bytes, std::size_t at, Integer number) {
  store_little_endian(reinterpret_cast<std::uint8_t*>(bytes.data()) + at, number);
  return bytes;
}

// Of the second meta page of a file with pages of 512 bytes, which is the newer one.
constexpr std::size_t kTestMeta = 512 + kLmdbPageHeaderBytes, kTestMain = kTestMeta + 24 + kLmdbTreeBytes;

TEST(LmdbFormat, ReadsEncodedDatums) {
  const std::string large = kLmdbJpeg + std::string(3000, 'x');
  EXPECT_THAT(lmdb_listing(lmdb_file({{"00000000_n01/a.JPEG", encoded_datum(kLmdbJpeg, 7)},
                                      {"00000001_n02/b.JPEG", encoded_datum(large, 0)},
                                      {"00000002", encoded_datum("of no known kind", -1)}})),
              ElementsAre("00000000_n01/a 7 jpg=" + kLmdbJpeg, "00000001_n02/b 0 jpg=" + large,
                          "train/00000002 -1 data=of no known kind"));
}

TEST(LmdbFormat, LeavesRawDatumsWhole) {
  const std::string color = caffe_datum(3, 2, 1, "bbggrr", 4), grey = caffe_datum(1, 1, 2, "gg", 5);
  EXPECT_THAT(lmdb_listing(lmdb_file({{"a", color}, {"b", grey}})),
              ElementsAre("a 4 datum=" + color, "b 5 datum=" + grey));
}

TEST(LmdbFormat, TakesPixelsThatAreNotAPictureAsData) {
  EXPECT_THAT(lmdb_listing(lmdb_file({{"a", caffe_datum(2, 2, 1, "abcd", 4)}, {"b", caffe_datum(3, 2, 2, "abcd", 5)}})),
              ElementsAre("a 4 data=abcd", "b 5 data=abcd"));
}

TEST(LmdbFormat, LeavesDatumsOfFloatsWhole) {
  const std::string floats = caffe_datum(2, 1, 1, "", 3) + "\x35" + "\0\0\x80\x3f"s + "\x35" + "\0\0\0\x40"s;
  EXPECT_THAT(lmdb_listing(lmdb_file({{"a", floats}})), ElementsAre("a 3 datum.pb=" + floats));
}

TEST(LmdbFormat, TakesValuesThatAreImages) {
  ShardNotes notes;
  EXPECT_THAT(lmdb_listing(lmdb_file({{"__keys__", "\x80\x04]."s},
                                      {"__len__", "\x80\x03K\x05."s},
                                      {"cd1.1.jpg", kLmdbJpeg},
                                      {"n01/x.jpg", kLmdbJpeg},
                                      {"n01/x.png", kLmdbPng},
                                      {"notes", "of something"},
                                      {"plain", kLmdbPng}}),
                           &notes),
              ElementsAre("cd1.1.jpg/image -1 jpg=" + kLmdbJpeg, "n01/x -1 jpg=" + kLmdbJpeg,
                          "n01/x.png/image -1 png=" + kLmdbPng, "plain -1 png=" + kLmdbPng));
  EXPECT_THAT(notes.problems,
              ElementsAre(AllOf(HasSubstr("skips 2 keys with a value that Python pickled"), HasSubstr("'__keys__'")),
                          AllOf(HasSubstr("skips 1 key with"), HasSubstr("neither an image"), HasSubstr("'notes'"))));
}

TEST(LmdbFormat, WritesNumbersInKeys) {
  EXPECT_THAT(
      lmdb_listing(lmdb_file({{"\0\0\0\x07"s, kLmdbJpeg}, {"\0\0\x01\0"s, kLmdbJpeg}, {"\0\xab\x01"s, kLmdbJpeg}})),
      ElementsAre("train/00000007 -1 jpg=" + kLmdbJpeg, "train/00000256 -1 jpg=" + kLmdbJpeg,
                  "train/00ab01 -1 jpg=" + kLmdbJpeg));
  // As LMDB's own integers, which are ordered as such.
  EXPECT_THAT(
      lmdb_listing(lmdb_file({{"\x07\0\0\0"s, kLmdbJpeg}, {"\0\x01\0\0"s, kLmdbJpeg}}, {.flags = kLmdbIntegerKey}),
                   nullptr, "sets/val.lmdb"),
      ElementsAre("val/00000007 -1 jpg=" + kLmdbJpeg, "val/00000256 -1 jpg=" + kLmdbJpeg));
}

TEST(LmdbFormat, OrdersReversedKeys) {
  EXPECT_THAT(lmdb_listing(lmdb_file({{"b-a", kLmdbJpeg}, {"a-b", kLmdbJpeg}}, {.flags = kLmdbReverseKey})),
              ElementsAre("b-a -1 jpg=" + kLmdbJpeg, "a-b -1 jpg=" + kLmdbJpeg));
}

TEST(LmdbFormat, PutsNumberedEntriesTogether) {
  ShardNotes notes;
  EXPECT_THAT(lmdb_listing(lmdb_file({{"image-000000001", kLmdbJpeg},
                                      {"image-000000002", kLmdbPng},
                                      {"image-000000004", "damaged"},
                                      {"label-000000001", "word"},
                                      {"label-000000002", ""},
                                      {"label-000000003", "without"},
                                      {"num-samples", "3"}},
                                     {.nodes_max = 2}),
                           &notes),
              ElementsAre("train/000000001 -1 jpg=" + kLmdbJpeg + " label=word",
                          "train/000000002 -1 png=" + kLmdbPng + " label=", "train/000000004 -1 image=damaged"));
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("skips 1 number without an image")));
}

TEST(LmdbFormat, NamesSeveralNumberedImages) {
  ShardNotes notes;
  EXPECT_THAT(lmdb_listing(lmdb_file({{"image_hr-000000001", kLmdbJpeg},
                                      {"image_lr-000000001", kLmdbPng},
                                      {"image_lr-2", kLmdbPng},
                                      {"label-000000001", "word"},
                                      {"num-samples", "9"}}),
                           &notes),
              ElementsAre("train/000000001 -1 image_hr.jpg=" + kLmdbJpeg + " image_lr.png=" + kLmdbPng + " label=word",
                          "train/2 -1 image_lr.png=" + kLmdbPng));
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("has 2 samples, and its key 'num-samples' says 9")));
}

TEST(LmdbFormat, NamesNoFieldByAPath) {
  EXPECT_THAT(lmdb_listing(lmdb_file({{"/../up-1", "word"}, {"image-1", kLmdbJpeg}, {"num-samples", "1"}})),
              ElementsAre("train/1 -1 ....up=word jpg=" + kLmdbJpeg));
}

TEST(LmdbFormat, TakesNumberedImagesWithoutACountAsTheyAre) {
  EXPECT_THAT(lmdb_listing(lmdb_file({{"image-1", kLmdbJpeg}, {"num-samples", "many"}})),
              ElementsAre("image-1 -1 jpg=" + kLmdbJpeg));
}

TEST(LmdbFormat, PassesOverNamedDatabasesAndSeveralValues) {
  ShardNotes notes;
  EXPECT_THAT(lmdb_listing(lmdb_file({{"a", kLmdbJpeg},
                                      {"images", std::string(48, 'x'), kLmdbSubTree},
                                      {"many", std::string(48, 'x'), kLmdbDuplicates}}),
                           &notes),
              ElementsAre("a -1 jpg=" + kLmdbJpeg));
  EXPECT_THAT(notes.problems, ElementsAre(AllOf(HasSubstr("1 key with a database of its own"), HasSubstr("'images'")),
                                          HasSubstr("1 key with several values")));
}

TEST(LmdbFormat, ReadsDeepTreesOfLargePages) {
  std::vector<TestLmdbEntry> entries;
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    entries.push_back(
        {fmt::format("{:05}", i), kLmdbJpeg + std::string(static_cast<std::size_t>(i) * 131 % 20000, 'x')});
    expected.push_back(fmt::format("train/{:05} -1 jpg={}", i, entries.back().value));
  }
  for (const std::size_t page_bytes : {512, 4096, 65536}) {
    EXPECT_EQ(lmdb_listing(lmdb_file(entries, {.page_bytes = page_bytes, .nodes_max = 3})), expected);
  }
}

TEST(LmdbFormat, OfAnEmptyDatabaseHasNoSamples) { EXPECT_THAT(lmdb_listing(lmdb_file({})), IsEmpty()); }

TEST(LmdbFormat, ReadsByTheNewerValidMetaPage) {
  const std::string file = lmdb_file({{"a", kLmdbJpeg}});
  const std::vector<std::string> sample = {"a -1 jpg=" + kLmdbJpeg};
  EXPECT_EQ(lmdb_listing(with_number(file, kLmdbPageHeaderBytes, 0U)), sample) << "without the first";
  EXPECT_THAT(lmdb_listing(with_number(file, kTestMeta, 0U)), IsEmpty()) << "the first is of the empty database";
  EXPECT_THAT(lmdb_listing(with_number(file, kLmdbPageHeaderBytes + 128, std::uint64_t{2})), IsEmpty()) << "is newer";
  EXPECT_THAT(lmdb_refusal(with_number(with_number(file, kTestMeta, 0U), kLmdbPageHeaderBytes, 0U)),
              HasSubstr("no valid meta page"));
}

TEST(LmdbFormat, RefusesNumbersThatLie) {
  const std::string file =
      lmdb_file({{"a", kLmdbJpeg}, {"b", kLmdbJpeg + std::string(2000, 'x')}, {"c", "x"}}, {.nodes_max = 2});
  EXPECT_EQ(lmdb_listing(file).size(), 2u);
  constexpr std::size_t kDepthAt = kTestMain + 6, kEntriesAt = kTestMain + 32, kRootAt = kTestMain + 40,
                        kLastAt = kTestMain + 48;
  EXPECT_THAT(lmdb_refusal(with_number(file, kDepthAt, std::uint16_t{1})), HasSubstr("it is not a leaf page"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kDepthAt, std::uint16_t{3})), HasSubstr("it is not a branch page"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kDepthAt, std::uint16_t{33})), HasSubstr("tree of depth 33"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kDepthAt, std::uint16_t{0})), HasSubstr("tree of depth 0"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kEntriesAt, std::uint64_t{4})),
              HasSubstr("it has 3 keys, and its meta page tells of 4"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kRootAt, std::uint64_t{1})), HasSubstr("pages 2 to"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kRootAt, ~std::uint64_t{1})), HasSubstr("pages 2 to"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kLastAt, std::uint64_t{4})), HasSubstr("pages 2 to 4"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kTestMeta + 24, 1024U)), HasSubstr("its two meta pages tell of pages"));
  EXPECT_THAT(lmdb_refusal(with_number(file, kTestMeta + 4, 999U)), HasSubstr("of version 999"));
  // A file that says it is longer.
  EXPECT_THAT(
      lmdb_refusal(with_number(with_number(file, kLastAt, std::uint64_t{1} << 40), kRootAt, std::uint64_t{1} << 39)),
      HasSubstr("too few for 1 page there"));
}

TEST(LmdbFormat, RefusesTreesThatGoInCircles) {
  // Its root, the last page, has two children; the second becomes the first.
  const std::string file = lmdb_file({{"a", kLmdbJpeg}, {"b", kLmdbJpeg}, {"c", kLmdbJpeg}}, {.nodes_max = 2});
  const std::size_t root = file.size() - 512;
  const std::size_t node =
      load_little_endian<std::uint16_t>(reinterpret_cast<const std::uint8_t*>(file.data()) + root + 18);
  EXPECT_THAT(lmdb_refusal(with_number(file, root + node, 2U)), HasSubstr("not in the order of the tree"));
  EXPECT_THAT(lmdb_refusal(with_number(file, root + node, static_cast<std::uint32_t>(root / 512))),
              HasSubstr("it is not a leaf page"));
}

TEST(LmdbFormat, NamesFilesOfOtherMachines) {
  const std::string file = lmdb_file({{"a", kLmdbJpeg}});
  std::string narrow = file;
  narrow.erase(12, 4);
  EXPECT_THAT(lmdb_refusal(narrow.substr(0, 400)), HasSubstr("32-bit or big-endian"));
  const auto swapped = __builtin_bswap32(kLmdbMagic);
  EXPECT_THAT(lmdb_refusal(with_number(with_number(file, kTestMeta, swapped), kLmdbPageHeaderBytes, swapped)),
              HasSubstr("32-bit or big-endian"));
}

TEST(LmdbFormat, IsFoundByTheFolderOfItsFile) {
  TempFolder folder;
  folder.write("train/data.mdb", lmdb_file({{"7", encoded_datum(kLmdbJpeg, 3)}}));
  folder.write("train/lock.mdb", std::string(8192, '\0'));
  for (const char* given : {"train", "train/data.mdb"}) {
    const auto data = open_dataset({folder.path(given)}, std::make_shared<InlineExecutor>(), {.use = false});
    ASSERT_EQ(data->size(), 1) << given;
    EXPECT_EQ(data->key(0), "train/7");
    EXPECT_EQ(data->label(0), 3);
  }
}

}  // namespace
}  // namespace stoker
