#include "stoker/format/arrow/huggingface_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HuggingfaceFolder : public ::testing::Test {
 protected:
  std::vector<std::string> names(const std::string& below = "") const {
    std::vector<std::string> names;
    const Location folder(below.empty() ? folder_.path() : folder_.path(below));
    for (const Location& table : listed_huggingface_tables(Stores(), folder)) names.push_back(table.name());
    return names;
  }
  Error refusal() const {
    return error_of([&] { names(); });
  }

  TempFolder folder_;
};

TEST_F(HuggingfaceFolder, ListsWhatSaveToDiskWrote) {
  folder_.write("state.json",
                R"({"_data_files": [{"filename": "data-00001.arrow"}, {"filename": "data-00000.arrow"}]})");
  for (const char* table : {"data-00000.arrow", "data-00001.arrow", "cache-12ab.arrow"}) folder_.write(table, "table");
  EXPECT_THAT(names(), ElementsAre("data-00001.arrow", "data-00000.arrow")) << "in the order of the list";
  folder_.write("state.json", R"({"_data_files": [{"filename": "data-00002.arrow"}]})");
  EXPECT_EQ(refusal().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(refusal().message(), HasSubstr("data-00002.arrow' is not there"));
  for (const char* place : {"../x.arrow", "/etc/passwd", "", "s3://b/x.arrow"}) {
    folder_.write("state.json", std::string(R"({"_data_files": [{"filename": ")") + place + R"("}]})");
    EXPECT_EQ(refusal().kind(), ErrorKind::kData) << place;
  }
}

TEST_F(HuggingfaceFolder, AsksForOneOfTheSplits) {
  folder_.write("dataset_dict.json", R"({"splits": ["train", "test"]})");
  EXPECT_EQ(refusal().kind(), ErrorKind::kUsage);
  EXPECT_THAT(refusal().message(), HasSubstr("give '" + folder_.path("train") + "' or '" + folder_.path("test") + "'"));
  folder_.write("dataset_dict.json", R"({"splits": ["train"]})");
  folder_.write("train/state.json", R"({"_data_files": [{"filename": "data.arrow"}]})");
  folder_.write("train/data.arrow", "table");
  EXPECT_THAT(names(), ElementsAre("data.arrow"));
}

TEST_F(HuggingfaceFolder, TellsSplitsInTheCacheApart) {
  folder_.write("dataset_info.json", R"({"splits": {"train": {"num_bytes": 1}, "test": {"num_bytes": 1}}})");
  for (const char* table :
       {"cifar-train-00001-of-00002.arrow", "cifar-train-00000-of-00002.arrow", "cache-12ab.arrow"}) {
    folder_.write(table, "table");
  }
  EXPECT_THAT(names(), ElementsAre("cifar-train-00000-of-00002.arrow", "cifar-train-00001-of-00002.arrow"));
  folder_.write("cifar-test.arrow", "table");
  EXPECT_THAT(refusal().message(), HasSubstr("*-test*.arrow' or '"));
  folder_.write("dataset_info.json", R"({"splits": {"train": {"num_bytes": 1}, "other-test": {"num_bytes": 1}}})");
  EXPECT_THAT(names(), ElementsAre("cifar-train-00000-of-00002.arrow", "cifar-train-00001-of-00002.arrow"));
}

TEST_F(HuggingfaceFolder, ListsNothingWithoutAList) {
  EXPECT_THAT(names(), IsEmpty());
  for (const char* text : {"", "[]", "{}", "{\"_data_files\": 1, \"splits\": 2}", "no JSON"}) {
    for (const char* list : {"state.json", "dataset_dict.json", "dataset_info.json"})
      folder_.write(list, std::string(text));
    EXPECT_THAT(names(), IsEmpty()) << text;
  }
}

TEST_F(HuggingfaceFolder, ListsNothingWhoseNestingWouldExhaustTheStack) {
  folder_.write("data.arrow", "table");
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  folder_.write("state.json", R"({"_data_files": [{"filename": "data.arrow"}], "x": )" + deep + "}");
  folder_.write("dataset_dict.json", R"({"splits": )" + deep + "}");
  folder_.write("dataset_info.json", deep);
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace stoker
