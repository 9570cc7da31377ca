#include "stoker/format/field_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_view_literals;

using Fields = std::vector<std::pair<std::string, std::string>>;

class ChosenFields : public ::testing::Test {
 protected:
  /// Samples 0, 1, ... of a tar.
  std::shared_ptr<const Dataset> tar_of(const std::vector<Fields>& samples) const {
    TarWriter tar(folder_.path("in.tar"));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (const auto& [name, content] : samples[i]) tar.add(std::to_string(i) + "." + name, as_bytes(content));
    }
    tar.finish();
    return open_dataset({folder_.path("in.tar")}, std::make_shared<InlineExecutor>(), {.use = false});
  }
  /// The labels of a data set whose samples have these values in the field "tag".
  std::vector<std::int64_t> labels_of(const std::vector<std::string>& values, const std::string& ending = "") {
    std::vector<Fields> samples;
    for (const std::string& value : values) samples.push_back({{"jpg", "x"}, {"tag" + ending, value}});
    const auto data = with_fields(tar_of(samples), {.label = "tag"});
    classes_ = data->classes();
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < data->size(); ++i) labels.push_back(data->label(i));
    return labels;
  }

  TempFolder folder_;
  std::vector<std::string> classes_;
};

TEST_F(ChosenFields, NameTheImage) {
  const auto data = tar_of({{{"jpg", "usual"}, {"depth.png", "one"}, {"photo", "three"}}, {{"jpg", "x"}}});
  const auto image_of = [&](const std::string& name, std::int64_t sample = 0) {
    const std::shared_ptr<const Dataset> chosen = with_fields(data, {.image = name});  // which the row has views of
    const SampleRow row = chosen->row(sample);
    return row.image_field() ? std::string(row.image_field()->name) : "none";
  };
  EXPECT_EQ(image_of(""), "jpg");
  EXPECT_EQ(image_of("image"), "jpg") << "the usual one";
  EXPECT_EQ(image_of("photo"), "photo");
  EXPECT_EQ(image_of("Depth.PNG"), "depth.png");
  EXPECT_EQ(image_of("depth"), "depth.png");
  EXPECT_EQ(image_of("depth", 1), "none") << "and not another in its place";
  EXPECT_EQ(with_fields(data, {.image = "photo"})->row(0).find("image")->name, "photo");
  EXPECT_NE(with_fields(data, {.image = "photo"})->fingerprint(), data->fingerprint());
  EXPECT_EQ(with_fields(data, {.image = "jpg"})->fingerprint(), data->fingerprint());
}

TEST_F(ChosenFields, AreRefusedWithTheNamesThereAre) {
  const auto data = tar_of({{{"jpg", "x"}, {"cls", "3"}, {"depth.png", "y"}}});
  for (const FieldChoice& choice :
       {FieldChoice{.image = "dep"}, FieldChoice{.label = "dep"}, FieldChoice{.label = "image"}}) {
    const Error error = error_of([&] { with_fields(data, choice); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("there is no field '"), HasSubstr("'jpg', 'cls', 'depth.png'")));
  }
  EXPECT_EQ(with_fields(data, {.label = "label"})->label(0), 3) << "the usual one";
  const auto refusal_of = [&](const FieldChoice& choice) {
    return error_of([&] { with_fields(data, choice); }).message();
  };
  // Formats with columns call them otherwise.
  EXPECT_THAT(refusal_of({.image = "img"}),
              HasSubstr("the column that already became the image, leave the choice out"));
  EXPECT_THAT(refusal_of({.label = "image/class/label"}),
              HasSubstr("the column that already became the label, leave the choice out"));
}

TEST_F(ChosenFields, GiveNumbersInEveryForm) {
  EXPECT_THAT(labels_of({"3", " 07\n", "0"}), ElementsAre(3, 7, 0));
  EXPECT_THAT(classes_, IsEmpty());
  EXPECT_THAT(labels_of({std::string("\5\0\0\0"sv), std::string("\xff\xff\xff\xff"sv)}, ".i32"), ElementsAre(5, -1));
  EXPECT_THAT(labels_of({std::string("\2\0\0\0\1\0\0\0"sv)}, ".i64"), ElementsAre((std::int64_t{1} << 32) + 2));
  EXPECT_THAT(labels_of({std::string("\xff\xff\xff\xff"sv)}, ".u32"), ElementsAre(4294967295));
  EXPECT_THAT(labels_of({std::string("\5\0\0\0\0\0\0\0"sv)}, ".u64"), ElementsAre(5));
  EXPECT_THAT(labels_of({"2.0", "+3", "-1.0"}), ElementsAre(2, 3, -1));
  EXPECT_THAT(labels_of({"\x80\x01", "\x07"}, ".varint"), ElementsAre(128, 7));
  EXPECT_THAT(labels_of({std::string("\0\0\x40\x40"sv)}, ".f32"), ElementsAre(3));
  EXPECT_THAT(labels_of({std::string("\0\0\0\0\0\0\x14\x40"sv)}, ".f64"), ElementsAre(5));
}

TEST_F(ChosenFields, NumberNamesInByteOrder) {
  EXPECT_THAT(labels_of({"dog", "cat", "dog", "ape"}), ElementsAre(2, 1, 2, 0));
  EXPECT_THAT(classes_, ElementsAre("ape", "cat", "dog"));
  EXPECT_THAT(labels_of({"10", "x", "9"}), ElementsAre(0, 2, 1)) << "not all are numbers";
}

TEST_F(ChosenFields, NumberTheDataSetsOwnClassesAsItDoes) {
  for (const char* name : {"b/1", "a/2", "c/3"}) folder_.write("in/" + std::string(name) + ".jpg", "x");
  folder_.write("in/a/2.tag", "c");
  folder_.write("in/b/1.tag", "b");
  folder_.write("in/c/3.tag", "c");
  const auto data =
      with_fields(open_dataset({folder_.path("in")}, std::make_shared<InlineExecutor>()), {.label = "tag"});
  EXPECT_THAT(data->classes(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(data->label(0), 2);
  EXPECT_EQ(data->label(1), 1);
}

TEST_F(ChosenFields, TakeNumbersForNoNamesOfClasses) {
  for (const char* name : {"2/a", "3/b"}) folder_.write("in/" + std::string(name) + ".jpg", "x");
  for (const char* name : {"2/a", "3/b"}) {
    folder_.write("in/" + std::string(name) + ".stars.i32", std::string("\3\0\0\0"sv));
    folder_.write("in/" + std::string(name) + ".tag", "3");
  }
  const auto data = open_dataset({folder_.path("in")}, std::make_shared<InlineExecutor>());
  ASSERT_THAT(data->classes(), ElementsAre("2", "3"));
  EXPECT_EQ(with_fields(data, {.label = "stars"})->label(0), 3);
  EXPECT_THAT(with_fields(data, {.label = "stars"})->classes(), IsEmpty());
  EXPECT_EQ(with_fields(data, {.label = "tag"})->label(0), 1) << "a text names a class";
}

TEST_F(ChosenFields, LeaveSamplesWithoutThemWithoutLabels) {
  const auto data = with_fields(tar_of({{{"jpg", "x"}, {"cls", "1"}, {"tag", "5"}},
                                        {{"jpg", "x"}, {"cls", "2"}},
                                        {{"jpg", "x"}, {"tag", ""}},
                                        {{"jpg", "x"}, {"tag", "-4"}}}),
                                {.label = "tag"});
  EXPECT_EQ(data->label(0), 5);
  for (const std::int64_t sample : {1, 2, 3}) EXPECT_EQ(data->label(sample), -1) << sample;
  EXPECT_THAT(error_of([&] {
                labels_of({"", "-1"});
              }).message(),
              HasSubstr("no sample has a label in its field 'tag'"));
}

TEST_F(ChosenFields, NameTheSampleWhoseFieldIsNotALabel) {
  const auto refusal_of = [&](const std::string& value, const std::string& ending) {
    const Error error = error_of([&] { labels_of({value}, ending); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("in.tar, sample '0'"), HasSubstr("'tag" + ending + "'")));
    return error.message();
  };
  EXPECT_THAT(refusal_of(std::string(FieldTexts::kBytesMax + 1, 'x'), ""), HasSubstr("has 1025 bytes"));
  EXPECT_THAT(refusal_of(std::string(8, '\1'), ".i32"), HasSubstr("not one whole number"));
  EXPECT_THAT(refusal_of(std::string(8, '\xff'), ".u64"), HasSubstr("below 2^63"));
  EXPECT_THAT(refusal_of(std::string("\0\0\x20\x40"sv), ".f32"), HasSubstr("not one whole number"));
  EXPECT_THAT(refusal_of(std::string("\0\0\xc0\x7f"sv), ".f32"), HasSubstr("not one whole number")) << "NaN";
  EXPECT_THAT(refusal_of("\x07\x07", ".varint"), HasSubstr("not one whole number"));
  EXPECT_THAT(refusal_of("\x87", ".varint"), HasSubstr("not one whole number"));
}

TEST_F(ChosenFields, ReadManySamplesInOrder) {
  std::vector<std::string> values;
  std::vector<std::int64_t> expected;
  for (int i = 0; i < 1500; ++i) {
    values.push_back(std::to_string(i * 7919 % 1500));
    expected.push_back(i * 7919 % 1500);
  }
  EXPECT_EQ(labels_of(values), expected);
}

}  // namespace
}  // namespace stoker
