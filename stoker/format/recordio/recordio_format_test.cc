#include "stoker/format/recordio/recordio_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/recordio/recordio_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMagic = "\x0a\x23\xd7\xce", kJpeg =
                                                   "\xff\xd8\xff"
                                                   "photograph";

/// "key label field=content ..." of a sample.
std::string line_of(const SampleRow& row) {
  std::string line = fmt::format("{} {}", row.key, row.label);
  for (const SampleField& field : row.fields) {
    std::string content(field.length, '?');
    read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
    line += fmt::format(" {}={}", field.name, content);
  }
  return line;
}

std::vector<std::string> listing(std::string_view bytes, ShardNotes* notes = nullptr) {
  MemorySource source("data/train.rec", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  RecordIoSamples samples(source);
  std::vector<std::string> lines;
  for (SampleRow row; samples.next(row);) lines.push_back(line_of(row));
  if (notes) *notes = samples.take_notes();
  return lines;
}

std::string refusal(std::string_view bytes) {
  const Error error = error_of([&] { listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'data/train.rec'"));
  return error.message();
}

TEST(RecordIoFormat, TakesTheLabelAndTheIdOfTheHeader) {
  EXPECT_THAT(listing(recordio_record(recordio_image({7}, 123, kJpeg)) + recordio_record(recordio_image({0}, 4, "x"))),
              ElementsAre("train/00000123 7 jpg=" + kJpeg, "train/00000004 0 data=x"));
}

TEST(RecordIoFormat, LocatesLabelsThatAreNoClassNumber) {
  const auto lines =
      listing(recordio_record(recordio_image({1.5F}, 0, "x")) + recordio_record(recordio_image({1, 2}, 1, "y")) +
              recordio_record(recordio_image({-1}, 2, "z")));
  EXPECT_THAT(lines, ElementsAre(std::string("train/00000000 -1 data=x label.f32=\0\0\xc0\x3f", 39),
                                 std::string("train/00000001 -1 data=y label.f32=\0\0\x80\x3f\0\0\0\x40", 43),
                                 std::string("train/00000002 -1 data=z label.f32=\0\0\x80\xbf", 39)));
}

TEST(RecordIoFormat, PutsFieldsInTheOrderOfTheirNames) {
  const std::string png = "\x89PNG\r\n\x1a\n";
  EXPECT_THAT(listing(recordio_record(recordio_image({1.5F}, 0, png))),
              ElementsAre(std::string("train/00000000 -1 label.f32=\0\0\xc0\x3f png=", 37) + png));
}

TEST(RecordIoFormat, TakesASingleLabelOfAVector) {
  std::string image = recordio_image({7}, 3, "");
  image[0] = 1;
  EXPECT_THAT(listing(recordio_record(image + std::string("\0\0\x10\x41", 4) + "x")),
              ElementsAre("train/00000003 9 data=x"));
}

TEST(RecordIoFormat, RestoresTheMagicNumberOfSplitRecords) {
  // At a multiple of 4 in the record: once, twice in a row, at its end; and at other places, where it stays.
  for (const std::string& image :
       {kMagic + "abcd" + kMagic + kMagic + "ef", "abcd" + kMagic, "a" + kMagic + "bc", kMagic, kMagic + kMagic}) {
    const std::string record = recordio_record(recordio_image({7}, 1, image));
    const std::string whole = recordio_record(recordio_image({8}, 2, "y"));
    EXPECT_THAT(listing(record + whole), ElementsAre("train/00000001 7 data=" + image, "train/00000002 8 data=y"));
  }
}

TEST(RecordIoFormat, OpensAShardWithSplitRecordsByAScanAndFromTheCache) {
  TempFolder folder;
  const std::string image = "abcd" + kMagic + "ef";
  const std::string path = folder.write(
      "train.rec", recordio_record(recordio_image({7}, 1, image)) + recordio_record(recordio_image({8}, 2, "y")));
  for (int time = 0; time < 2; ++time) {
    LogCapture log;
    const auto data = open_dataset({path}, std::make_shared<InlineExecutor>(), {.cache_folder = folder.path("cache")});
    ASSERT_EQ(data->size(), 2);
    EXPECT_EQ(line_of(data->row(0)), "train/00000001 7 data=" + image);
    EXPECT_EQ(line_of(data->row(1)), "train/00000002 8 data=y");
    EXPECT_THAT(log.lines, ElementsAre());
  }
}

/// Counts the bytes that are read of it.
class CountedSource final : public Source {
 public:
  explicit CountedSource(std::string_view bytes)
      : inner_("data/train.rec", std::vector<std::uint8_t>(bytes.begin(), bytes.end())) {}

  std::uint64_t read() const { return read_; }
  const std::string& name() const override { return inner_.name(); }
  std::uint64_t size(std::string_view part = {}) const override { return inner_.size(part); }
  void start(ReadRequest& request) override {
    for (const MutableBytes piece : request.into) read_ += piece.size();
    inner_.start(request);
  }

 private:
  MemorySource inner_;
  std::uint64_t read_ = 0;
};

TEST(RecordIoFormat, ReadsLittleMoreThanHeadersOfLargeRecords) {
  const std::string image = kJpeg + std::string(1'000'000, 'x');
  const std::vector<float> labels(3000, 1.5F);
  CountedSource source(recordio_record(recordio_image({7}, 1, image)) + recordio_record(recordio_image({8}, 2, image)) +
                       recordio_record(recordio_image(labels, 3, image)) +
                       recordio_record(recordio_image({9}, 4, image)));
  RecordIoSamples samples(source);
  std::vector<std::string> found;
  for (SampleRow row; samples.next(row);) {
    found.push_back(fmt::format("{} {} {} {}", row.key, row.label, row.fields[0].name, row.fields[0].length));
  }
  const std::string rest = fmt::format(" jpg {}", image.size());
  EXPECT_THAT(found, ElementsAre("train/00000001 7" + rest, "train/00000002 8" + rest, "train/00000003 -1" + rest,
                                 "train/00000004 9" + rest));
  EXPECT_LT(source.read(), 200'000u) << "of " << source.size();
}

TEST(RecordIoFormat, SkipsRecordsWithoutAnImage) {
  ShardNotes notes;
  EXPECT_THAT(
      listing(recordio_record(recordio_image({5, 9}, 0, "")) + recordio_record(recordio_image({1}, 1, "x")), &notes),
      ElementsAre("train/00000001 1 data=x"));
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("1 record without an image")));
}

TEST(RecordIoFormat, RefusesPartsThatAreNotInOrder) {
  const std::string image = recordio_image({7}, 1, "abcd");
  for (const std::uint32_t kind : {2U, 3U}) EXPECT_THAT(refusal(recordio_part(kind, image)), HasSubstr("not in order"));
  for (const std::uint32_t kind : {0U, 1U}) {
    EXPECT_THAT(refusal(recordio_part(1, image) + recordio_part(kind, image)), HasSubstr("not in order"));
  }
  EXPECT_THAT(refusal(recordio_part(1, image)), HasSubstr("truncated"));
  EXPECT_THAT(refusal(recordio_part(4, image)), HasSubstr("unknown kind 4"));
}

TEST(RecordIoFormat, RefusesWhatIsNoRecordAndLengthsThatLie) {
  EXPECT_THAT(refusal("something else"), HasSubstr("magic number at byte 0"));
  EXPECT_THAT(refusal(recordio_record("short")), HasSubstr("no header of an image"));
  EXPECT_THAT(refusal(kMagic + std::string("\xff\xff\xff\x1f", 4) + "abc"), HasSubstr("truncated"));
  std::string image = recordio_image({1}, 0, "abcd");
  image[0] = 2;
  EXPECT_THAT(refusal(recordio_record(image)), HasSubstr("cannot hold its 2 labels"));
  image.replace(0, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(refusal(recordio_record(image)), HasSubstr("cannot hold its 4294967295 labels"));
}

}  // namespace
}  // namespace stoker
