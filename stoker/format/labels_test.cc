#include "stoker/format/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ShardedDataset with_keys(const std::vector<std::string>& keys) {
  SampleTable samples;
  for (const std::string& key : keys) samples.add_sample(key, -1);
  return ShardedDataset(std::make_shared<MemorySource>("m", std::vector<std::uint8_t>()), std::move(samples), {});
}

class LabelFile : public ::testing::Test {
 protected:
  Labels read(const std::string& text, const std::vector<std::string>& classes = {}) {
    return read_labels(data_, folder_.write("labels", text), classes);
  }
  std::string refusal(const std::string& text, const std::vector<std::string>& classes = {}) {
    return error_of([&] { read(text, classes); }).message();
  }

  TempFolder folder_;
  ShardedDataset data_ = with_keys({"n1/a", "n1/b", "n2/c d"});
};

TEST_F(LabelFile, HasANumberForEachSampleAfterACommaOrSpace) {
  const Labels labels = read("n1/b 5\nn1/a\t7\n\n# mine\nn2/c d 5\n");
  EXPECT_THAT(labels.numbers, ElementsAre(7, 5, 5));
  EXPECT_THAT(labels.classes, IsEmpty());
  EXPECT_THAT(read("n2/c d,1\nn1/b , 2\nn1/a,3\n").numbers, ElementsAre(3, 2, 1));
}

TEST_F(LabelFile, MayNameFilesHaveAHeadingMoreColumnsAndOtherSamples) {
  EXPECT_THAT(read("\xef\xbb\xbfimage,label,split\r\nn1/a.jpg,3,train\r\n./n1/b.JPEG,4,train\r\n"
                   "\"n2/c d.png\",\"5\",x\r\nelsewhere.jpg,9,x\r\n")
                  .numbers,
              ElementsAre(3, 4, 5));
}

TEST_F(LabelFile, NumbersNamesInByteOrderOrAsTheClassesStand) {
  const std::string text = "n1/a,\"dog, \"\"big\"\"\"\nn1/b,Cat\nn2/c d,dog, small\n";
  const Labels labels = read(text);
  EXPECT_THAT(labels.numbers, ElementsAre(2, 0, 1));
  EXPECT_THAT(labels.classes, ElementsAre("Cat", "dog", "dog, \"big\""));
  const Labels named = read("n1/a,b\nn1/b,a\nn2/c d,b", {"b", "x", "a"});
  EXPECT_THAT(named.numbers, ElementsAre(0, 2, 0));
  EXPECT_THAT(named.classes, ElementsAre("b", "x", "a"));
  EXPECT_THAT(read("n1/a,10\nn1/b,9\nn2/c d,x").classes, ElementsAre("10", "9", "x")) << "not all are numbers";
}

TEST_F(LabelFile, MayNotHaveNumbersWithFractions) {
  EXPECT_THAT(refusal("n1/a,10\nn1/b,8.25\nn2/c d,-1e-3"), HasSubstr("'8.25' is a number with a fraction"));
  EXPECT_THAT(read("n1/a,10\nn1/b,8.25\nn2/c d,x").classes, ElementsAre("10", "8.25", "x")) << "not all are numbers";
  EXPECT_THAT(read("n1/a,1\nn1/b,2.5\nn2/c d,1", {"1", "2.5"}).numbers, ElementsAre(0, 1, 0));
}

TEST_F(LabelFile, MayHaveNumbersOfNamedClasses) {
  const Labels labels = read("n1/a,2\nn1/b,0\nn2/c d,1\n", {"b", "x", "a"});
  EXPECT_THAT(labels.numbers, ElementsAre(2, 0, 1));
  EXPECT_THAT(labels.classes, ElementsAre("b", "x", "a"));
  EXPECT_THAT(read("n1/a,2\nn1/b,2\nn2/c d,1\n", {"2", "1"}).numbers, ElementsAre(0, 0, 1)) << "these are names";
  EXPECT_THAT(refusal("n1/a,x\nn1/b,x\nn2/c d,x\n", {"x", "y", "x"}), HasSubstr("the class 'x' is named twice"));
}

TEST_F(LabelFile, MustHaveOneLabelForEachSample) {
  EXPECT_THAT(refusal("n1/a 1\n"), HasSubstr("no label for 2 of 3 samples; the first is 'n1/b'"));
  EXPECT_THAT(refusal("n1/a 1\nn1/b\nn2/c d 1\n"), HasSubstr("no label for 1 of 3 samples; the first is 'n1/b'"));
  EXPECT_THAT(refusal("n1/a 1\nn1/b 2\nn2/c d 3\nn1/b.png 4\n"), HasSubstr("gives sample 'n1/b' different labels"));
  EXPECT_THAT(read("n1/a 1\nn1/b 2\nn2/c d 3\nn1/b.png 2\n").numbers, ElementsAre(1, 2, 3)) << "the same twice";
  EXPECT_THAT(refusal("n1/a x\nn1/b y\nn2/c d x\n", {"x", "z"}), HasSubstr("'y' is not among the classes given (2)"));
  EXPECT_THAT(refusal(std::string("n1/a 1\0", 7)), HasSubstr("is not a text file"));
}

TEST(LabelsOfFolders, AreNumberedInByteOrderOrAsTheClassesStand) {
  const ShardedDataset data = with_keys({"b/x/1", "a/2", "b/3"});
  const Labels labels = labels_of_folders(data);
  EXPECT_THAT(labels.numbers, ElementsAre(1, 0, 1));
  EXPECT_THAT(labels.classes, ElementsAre("a", "b"));
  EXPECT_THAT(labels_of_folders(data, {"b", "c", "a"}).numbers, ElementsAre(0, 2, 0));
  EXPECT_THAT(error_of([&] { labels_of_folders(data, {"b"}); }).message(),
              HasSubstr("'a' is not among the classes given (1)"));
  EXPECT_THAT(error_of([] {
                labels_of_folders(with_keys({"a/1", "2"}));
              }).message(),
              HasSubstr("sample '2' is not in a folder"));
}

TEST(LabelsOfFiles, AreFoundForImagesThatShareTheirNamesUpToTheFirstDot) {
  TempFolder folder;
  const auto data = with_keys({"n1/cd.1.jpg/image", "n1/cd.2.jpg/image", "n1/x"});
  const std::string list = folder.write("l", "n1/cd.1.jpg,3\n./n1/cd.2.jpg,4\nn1/x.jpg,5\n");
  EXPECT_THAT(read_labels(data, list).numbers, ElementsAre(3, 4, 5));
  EXPECT_THAT(samples_of_keys(data, {"n1/cd.2.jpg", "n1/x.jpg"}), ElementsAre(1, 2));
  EXPECT_THAT(samples_of_keys(data, {"n1/cd.1.jpg/image", "n1/x"}), ElementsAre(0, 2));
  EXPECT_THAT(error_of([&] {
                samples_of_keys(data, {"n1/cd.3.jpg", "n1/x"});
              }).message(),
              HasSubstr("1 of 2 keys not in the data set; the first is 'n1/cd.3.jpg'"));
}

TEST(KeyList, HasAKeyOrAFileALine) {
  TempFolder folder;
  EXPECT_THAT(read_key_list(folder.write("list", "# chosen\nn1/a\n ./n1/b.seg.png \n\nn2/c d.jpg\n")),
              ElementsAre("n1/a", "./n1/b.seg.png", "n2/c d.jpg"));
}

}  // namespace
}  // namespace stoker
