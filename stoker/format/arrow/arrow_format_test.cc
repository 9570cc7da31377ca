#include "stoker/format/arrow/arrow_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/format/arrow/arrow_testing.h"
#include "stoker/format/scan_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_literals;

const std::string kTableJpeg = "\xff\xd8\xffphotograph"s, kTablePng = "\x89PNG\r\n\x1a\ndrawing"s;
const std::string kTableName = "data/set-train.arrow";

/// "key label field=content ..." of each sample.
std::vector<std::string> table_listing(const std::string& bytes, ShardNotes* notes = nullptr) {
  MemorySource source(kTableName, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  ArrowSamples samples(source);
  return scan_listing(samples, notes);
}

ArrowTestColumn i8_column(const std::string& name, const std::vector<std::string>& values) {
  return {.name = name, .type = "i8", .values = values};
}

/// As `datasets` stores images: with the file's name, and without the bytes of a file that is elsewhere.
ArrowTestColumn image_column(const std::string& name, const std::vector<std::string>& images) {
  ArrowTestColumn bytes{.name = "bytes", .type = "bytes", .values = images};
  ArrowTestColumn paths{.name = "path", .type = "text"};
  for (const std::string& image : images) {
    bytes.valid.push_back(!image.empty());
    paths.values.push_back("x.jpg");
  }
  return {.name = name, .type = "struct", .children = {bytes, paths}, .rows = images.size()};
}

TEST(ArrowSamples, TellImagesLabelsAndClassesOfHuggingFace) {
  const ArrowTestBatch batch = {image_column("image", {kTableJpeg, kTablePng}), i8_column("topic", {"\0"s, "\1"}),
                                i8_column("Width", {"a", "b"})};
  const std::string features = R"({"info": {"features": {"image": {"_type": "Image"}, "topic": )"
                               R"({"names": ["cat", "dog"], "_type": "ClassLabel"}}}})";
  ShardNotes notes;
  EXPECT_THAT(table_listing(arrow_stream({batch}, {.huggingface = features}), &notes),
              ElementsAre("set-train/00000000 0 image.path=x.jpg jpg=" + kTableJpeg + " width.i8=a",
                          "set-train/00000001 1 image.path=x.jpg png=" + kTablePng + " width.i8=b"));
  EXPECT_THAT(notes.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(notes.problems, IsEmpty());
  EXPECT_THAT(table_listing(arrow_stream({batch}), &notes),
              ElementsAre("set-train/00000000 -1 image.path=x.jpg jpg=" + kTableJpeg + " topic.i8=\0 width.i8=a"s,
                          "set-train/00000001 -1 image.path=x.jpg png=" + kTablePng + " topic.i8=\1 width.i8=b"))
      << "no integer is the label by being one";
}

TEST(ArrowSamples, PutNoOtherImageInThePlaceOfADamagedOne) {
  const ArrowTestBatch batch = {image_column("image", {"", kTableJpeg, "RIFFbroken"}),
                                image_column("mask", {kTablePng, kTablePng, kTablePng})};
  EXPECT_THAT(
      table_listing(arrow_stream({batch})),
      ElementsAre("set-train/00000000 -1 image.path=x.jpg mask=" + kTablePng + " mask.path=x.jpg",
                  "set-train/00000001 -1 image.path=x.jpg jpg=" + kTableJpeg + " mask.path=x.jpg mask.png=" + kTablePng,
                  "set-train/00000002 -1 image.path=x.jpg jpg=RIFFbroken mask.path=x.jpg mask.png=" + kTablePng));
}

TEST(ArrowSamples, TakeTheFirstOfTheUsualNamesForTheLabel) {
  const auto first = [](const std::vector<std::string>& names) {
    ArrowTestBatch batch;
    for (std::size_t i = 0; i < names.size(); ++i) {
      batch.push_back(i8_column(names[i], {std::string(1, static_cast<char>(i + 1))}));
    }
    const std::string line = table_listing(arrow_stream({batch})).at(0);
    return line.substr(line.find(' ') + 1, 1);
  };
  EXPECT_EQ(first({"labels", "Label"}), "2");
  EXPECT_EQ(first({"fine_label", "labels"}), "2");
  EXPECT_EQ(first({"number", "fine_label"}), "2");
}

TEST(ArrowSamples, KnowNoLabelWhereItIsNull) {
  ArrowTestColumn label = i8_column("label", {"\1", "\2"});
  label.valid = {false, true};
  EXPECT_THAT(table_listing(arrow_stream({{label, i8_column("target", {"a", "b"})}})),
              ElementsAre("set-train/00000000 -1 target.i8=a", "set-train/00000001 2 target.i8=b"));
}

TEST(ArrowSamples, HaveTheirKeysFromTexts) {
  const ArrowTestBatch batch = {{.name = "filename", .type = "text", .values = {"a/b.jpg", ""}},
                                {.name = "image", .type = "bytes", .values = {kTableJpeg, kTableJpeg}}};
  EXPECT_THAT(table_listing(arrow_stream({batch})), ElementsAre("a/b -1 filename=a/b.jpg jpg=" + kTableJpeg,
                                                                "set-train/00000001 -1 filename= jpg=" + kTableJpeg));
}

TEST(ArrowSamples, SayWhatTheySkipAndMiss) {
  const ArrowTestBatch batch = {
      image_column("image", {"", kTableJpeg}),
      {.name = "price", .type = "decimal", .values = {std::string(16, 'p'), std::string(16, 'q')}}};
  ShardNotes notes;
  EXPECT_THAT(table_listing(arrow_stream({batch}, {.has_end_mark = false}), &notes),
              ElementsAre("set-train/00000000 -1 image.path=x.jpg",
                          "set-train/00000001 -1 image.path=x.jpg jpg=" + kTableJpeg));
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("may have been cut after row 2"), HasSubstr("'price'"),
                                          HasSubstr("the path of 1 file in place of the bytes; save_to_disk()")));
}

TEST(ArrowSamples, NameTheRowWithTwoValuesForAField) {
  EXPECT_THAT(error_of([&] {
                table_listing(arrow_stream({{i8_column("a", {"x"}), i8_column("A", {"y"})}}));
              }).message(),
              HasSubstr("'data/set-train.arrow': row 0 cannot be used: it has two values for the field 'a.i8'"));
  EXPECT_THAT(error_of([&] { table_listing("FEA1 and columns"); }).message(), HasSubstr("Feather's first version"));
}

}  // namespace
}  // namespace stoker
