#include "stoker/format/npy/npy_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/zip/zip_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string npy(const std::string& type, const std::string& shape, const std::string& values, int version = 1,
                const std::string& order = "False") {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", type, order, shape);
  std::string text = "\x93NUMPY" + std::string{static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> 8 * i & 255);
  return text + header + values;
}

/// A line for each sample: "key label field=shape:values ...".
std::vector<std::string> rows_of(const std::string& bytes, ShardNotes* notes = nullptr, std::string_view images = "") {
  MemorySource source("a/x.1.npy", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const std::unique_ptr<ShardScan> scan = NpyFormat().scan_set(source, images, {});
  std::vector<std::string> lines;
  for (SampleRow row; scan->next(row);) {
    std::string line = fmt::format("{} {}", row.key, row.label);
    for (const SampleField& field : row.fields) {
      std::vector<std::uint8_t> content(field.length);
      read_fully(*row.source, field.offset, content);
      const std::string_view text = as_text(content);
      EXPECT_EQ((text.find('\n') + 1) % 64, 0u) << "values are aligned";
      const std::size_t shape = text.find("'shape': ") + 9, end = text.find('\n');
      line += fmt::format(" {}={}{}:{}", field.name, text.substr(text.find("'descr': ") + 10, 3),
                          text.substr(shape, text.find(')') + 1 - shape), text.substr(end + 1));
    }
    lines.push_back(line);
  }
  ShardNotes taken = scan->take_notes();
  if (notes) *notes = std::move(taken);
  return lines;
}

std::string fault(const std::string& bytes) {
  const Error error = error_of([&] { rows_of(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData) << error.message();
  EXPECT_THAT(error.message(), HasSubstr("'a/x.1.npy'"));
  return error.message();
}

TEST(NpyFormat, GivesEachRowOfAnArrayAHeader) {
  for (const int version : {1, 2, 3}) {
    ShardNotes notes;
    EXPECT_THAT(rows_of(npy("|u1", "(2, 1, 2, 3)", "abcdefghijkl", version), &notes),
                ElementsAre("x_1/00000000 -1 npy=|u1(1, 2, 3):abcdef", "x_1/00000001 -1 npy=|u1(1, 2, 3):ghijkl"));
    EXPECT_THAT(notes.problems, ElementsAre());
    ASSERT_NE(notes.blocks, nullptr);
    EXPECT_EQ(notes.blocks->size(), 1u) << "however many rows there are";
  }
  EXPECT_THAT(rows_of(npy("|u1", "(2, 2, 1)", "abcd")),
              ElementsAre("x_1/00000000 -1 npy=|u1(2, 1):ab", "x_1/00000001 -1 npy=|u1(2, 1):cd"));
  EXPECT_THAT(rows_of(npy("|u1", "(0, 2, 2)", "")), ElementsAre());
}

TEST(NpyFormat, KeepsOtherNumbersAsTheyAre) {
  ShardNotes notes;
  EXPECT_THAT(rows_of(npy(">i2", "(2, 1)", "abcd"), &notes),
              ElementsAre("x_1/00000000 -1 data.npy=>i2(1,):ab", "x_1/00000001 -1 data.npy=>i2(1,):cd"));
  EXPECT_THAT(notes.problems, ElementsAre()) << "samples of arrays need no images";
  EXPECT_THAT(rows_of(npy("<f4", "(1,)", "abcd")), ElementsAre("x_1/00000000 -1 data.npy=<f4():abcd"));
}

std::string npz(bool deflate, const std::string& label_type = "<i8") {
  const std::string labels = label_type[2] == '1'   ? std::string("\3\xff")
                             : label_type[0] == '>' ? std::string("\0\3\xff\xff", 4)
                                                    : std::string("\3\0\0\0\0\0\0\0", 8) + std::string(8, '\xff');
  return TestZip{{{.name = "y.npy", .content = npy(label_type, "(2,)", labels), .deflate = deflate},
                  {.name = "x.npy", .content = npy("|u1", "(2, 1, 1)", "ab"), .deflate = deflate},
                  {.name = "Box.npy", .content = npy("<u2", "(2, 1)", "cdef"), .deflate = deflate},
                  {.name = "notes.txt", .content = "passed over"}}}
      .bytes();
}

TEST(NpyFormat, GivesEachArrayOfAnArchiveAField) {
  for (const bool deflate : {false, true}) {
    for (const char* type : {"<i8", "|i1", ">i2"}) {
      EXPECT_THAT(rows_of(npz(deflate, type)), ElementsAre("x_1/00000000 3 box.npy=<u2(1,):cd npy=|u1(1, 1):a",
                                                           "x_1/00000001 -1 box.npy=<u2(1,):ef npy=|u1(1, 1):b"));
    }
  }
}

TEST(NpyFormat, RefusesWhatItCannotRead) {
  EXPECT_THAT(fault(npy("|u1", "(2, 2)", "abcd", 1, "True")), HasSubstr("column by column"));
  EXPECT_THAT(fault(npy("|O", "(2, 2)", "abcd")), HasSubstr("does not unpickle"));
  EXPECT_THAT(fault(npy("<U4", "(2, 2)", "abcd")), HasSubstr("type '<U4'"));
  EXPECT_THAT(fault(npy("<c8", "(2, 2)", "abcd")), HasSubstr("type '<c8'"));
  EXPECT_THAT(fault(npy("|u1", "()", "a")), HasSubstr("single number"));
  EXPECT_THAT(fault(npy("|u1", "(3, 0)", "")), HasSubstr("no values"));
  EXPECT_THAT(fault(npy("|u1", "(3, -1)", "")), HasSubstr("shape is unusual"));
  EXPECT_THAT(fault(npy("|u1", "(4,)", "abc")), HasSubstr("3 bytes that follow"));
  EXPECT_THAT(fault(npy("|u1", "(2,)", "abc")), HasSubstr("3 bytes that follow"));
  EXPECT_THAT(fault(npy("<f8", "(4294967296, 4294967296)", "abc")), HasSubstr("3 bytes that follow"));
  EXPECT_THAT(fault(npy("|u1", "(2,)", "ab", 4)), HasSubstr("version is 4"));
  EXPECT_THAT(fault("\x93NUMPY"), HasSubstr("cut short"));
  EXPECT_THAT(fault("something else"), HasSubstr("does not begin as an npy array"));
  EXPECT_THAT(fault(TestZip{{{.name = "a.npy", .content = npy("|O", "(2,)", "ab")}}}.bytes()),
              HasSubstr("array 'a.npy': it holds Python objects"));
}

/// As MNIST is spread: two sets of images, with labels of other types and shapes.
std::string npz_of_sets() {
  return TestZip{{{.name = "x_test.npy", .content = npy("|u1", "(1, 1, 2)", "ab")},
                  {.name = "x_train.npy", .content = npy("|u1", "(2, 1, 2)", "cdef")},
                  {.name = "y_test.npy", .content = npy("|u1", "(1,)", "\5")},
                  {.name = "y_train.npy", .content = npy("<u2", "(2, 1)", std::string("\6\0\7\0", 4))},
                  {.name = "train_ids.npy", .content = npy("|u1", "(2,)", "gh")}}}
      .bytes();
}

TEST(NpyFormat, ReadsTheSetThatIsChosen) {
  EXPECT_THAT(rows_of(npz_of_sets(), nullptr, "x_train"),
              ElementsAre("x_1/00000000 6 train_ids.npy=|u1():g x_train.npy=|u1(1, 2):cd",
                          "x_1/00000001 7 train_ids.npy=|u1():h x_train.npy=|u1(1, 2):ef"));
  EXPECT_THAT(rows_of(npz_of_sets(), nullptr, "X_Test.npy"), ElementsAre("x_1/00000000 5 x_test.npy=|u1(1, 2):ab"));
  EXPECT_THAT(rows_of(npz(false), nullptr, "x_train"), SizeIs(2)) << "one set needs no choice";
}

TEST(NpyFormat, TellsSetsOfOneLengthApartByTheirLabels) {
  const std::string sets = TestZip{{{.name = "train_images.npy", .content = npy("|u1", "(2, 1, 1)", "ab")},
                                    {.name = "train_labels.npy", .content = npy("|u1", "(2,)", "\1\2")},
                                    {.name = "val_images.npy", .content = npy("|u1", "(2, 1, 1)", "cd")},
                                    {.name = "val_labels.npy", .content = npy("|u1", "(2,)", "\3\4")}}}
                               .bytes();
  EXPECT_THAT(rows_of(sets, nullptr, "val_images"),
              ElementsAre("x_1/00000000 3 val_images.npy=|u1(1, 1):c", "x_1/00000001 4 val_images.npy=|u1(1, 1):d"));
  EXPECT_THAT(error_of([&] { rows_of(sets); }).message(),
              HasSubstr("its arrays of images have labels of their own: 'train_images' with 'train_labels' (2 rows)"));
}

TEST(NpyFormat, SkipsArraysThatAreNotOfSamples) {
  const std::string more = TestZip{{{.name = "x.npy", .content = npy("|u1", "(2, 1, 1)", "ab")},
                                    {.name = "n.npy", .content = npy("<f4", "()", "abcd")},
                                    {.name = "names.npy", .content = npy("<U1", "(3,)", std::string(12, 'a'))}}}
                               .bytes();
  ShardNotes notes;
  EXPECT_THAT(rows_of(more, &notes), ElementsAre("x_1/00000000 -1 npy=|u1(1, 1):a", "x_1/00000001 -1 npy=|u1(1, 1):b"));
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("skips the array 'n.npy': it is a single number"),
                                          HasSubstr("skips the array 'names.npy': its values are of the type '<U1'")));
}

TEST(NpyFormat, NamesTheSetsWhereNoneIsChosen) {
  for (const char* images : {"", "x", "images"}) {
    const Error error = error_of([&] { rows_of(npz_of_sets(), nullptr, images); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("'a/x.1.npy' holds several sets of samples"));
    EXPECT_THAT(error.message(),
                HasSubstr("'x_test' with 'y_test' (1 row), 'x_train' with 'train_ids' and 'y_train' (2 rows)"));
    EXPECT_THAT(error.message(), HasSubstr("--image-field x_test"));
  }
}

TEST(NpyFormat, NamesTheFileWhereverItIsCut) {
  for (const std::string& bytes : {npy("|u1", "(2, 1, 2, 3)", "abcdefghijkl"), npz(false), npz(true)}) {
    for (std::size_t length = 0; length < bytes.size(); ++length) fault(bytes.substr(0, length));
  }
}

TEST(NpyFormat, StaysInsideWhateverBitFlips) {
  int sound = 0;
  for (std::string bytes : {npy("|u1", "(2, 1, 2, 3)", "abcdefghijkl"), npz(false), npz(true)}) {
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      try {
        rows_of(bytes);
        ++sound;
      } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("'a/x.1.npy'"));
      }
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  EXPECT_GT(sound, 0);
}

}  // namespace
}  // namespace stoker
