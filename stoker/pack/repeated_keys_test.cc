#include "stoker/pack/repeated_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/log_testing.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/sample_table.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SampleTable with_keys(const std::vector<std::string>& keys) {
  SampleTable table;
  for (const std::string& key : keys) table.add_sample(key, 0);
  return table;
}

TEST(RepeatedKeys, AreFoundWithTheOneThatHadTheKeyFirst) {
  EXPECT_EQ(find_repeated_keys(with_keys({"a", "b", "A", ""}), "s").count, 0);
  EXPECT_EQ(find_repeated_keys(with_keys({}), "s").count, 0);
  const RepeatedKeys found = find_repeated_keys(with_keys({"a", "b", "a", "c", "b", "a"}), "s");
  EXPECT_EQ(found.count, 3);
  ASSERT_EQ(found.named.size(), 3u);
  EXPECT_EQ(found.named[0].row, 2);
  EXPECT_EQ(found.named[0].first, 0);
  EXPECT_EQ(found.named[1].row, 4);
  EXPECT_EQ(found.named[1].first, 1);
  EXPECT_EQ(found.named[2].first, 0);
}

TEST(RepeatedKeys, AreFoundInLittleMemoryToo) {
  std::vector<std::string> keys;
  for (int i = 0; i < 5000; ++i) keys.push_back(std::to_string(i % 3100));
  const SampleTable table = with_keys(keys);
  for (const std::size_t bytes_max : {std::size_t{160}, std::size_t{4096}, std::size_t{1} << 20}) {
    const RepeatedKeys found = find_repeated_keys(table, "s", {}, bytes_max);
    EXPECT_EQ(found.count, 1900);
    ASSERT_EQ(found.named.size(), 1000u) << "and no more are named";
    for (std::size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(found.named[i].row, static_cast<std::int64_t>(3100 + i));
      ASSERT_EQ(found.named[i].first, static_cast<std::int64_t>(i));
    }
  }
}

/// All images first, then all classes: WebDataset makes two samples of each.
class MembersApart : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::string png_ = std::string(as_text(noisy_png(8, 8, 1)));
  std::string tar_ = folder_.write("apart.tar", tar_member("a.png", png_) + tar_member("b.png", png_) +
                                                    tar_member("a.cls", "1") + tar_member("b.cls", "2") + tar_end());
};

TEST_F(MembersApart, AreNamedByVerifyWithShardAndKey) {
  for (const bool indexed : {false, true}) {
    if (indexed) index_shards({tar_}, {});
    const VerifyResult result = verify({tar_}, {});
    EXPECT_EQ(result.samples, 4);
    ASSERT_EQ(result.bad.size(), 4u);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::string key = i == 0 ? "a" : "b";
      EXPECT_EQ(result.bad[i].shard, tar_);
      EXPECT_EQ(result.bad[i].key, key);
      EXPECT_THAT(result.bad[i].reason, AllOf(HasSubstr("no image"), HasSubstr("'cls'")));
      EXPECT_EQ(result.bad[i + 2].shard, tar_);
      EXPECT_EQ(result.bad[i + 2].key, key);
      EXPECT_EQ(result.bad[i + 2].offset, result.bad[i].offset);
      EXPECT_THAT(result.bad[i + 2].reason, HasSubstr("adjacent"));
    }
  }
}

TEST_F(MembersApart, AreNamedByInfo) {
  for (const bool indexed : {false, true}) {
    if (indexed) index_shards({tar_}, {});
    const DataInfo info = data_info({tar_}, {});
    EXPECT_EQ(info.images, 2);
    EXPECT_THAT(info.problems, ElementsAre(AllOf(HasSubstr(tar_), HasSubstr("keys of 2 samples"), HasSubstr("'a'")),
                                           AllOf(HasSubstr(tar_), HasSubstr("'a'"), HasSubstr("no image")),
                                           AllOf(HasSubstr(tar_), HasSubstr("'b'"), HasSubstr("no image"))));
  }
}

TEST_F(MembersApart, AreNamedByIndex) {
  const LogCapture log;
  const IndexJobResult result = index_shards({tar_}, {});
  EXPECT_EQ(result.bad.size(), 2u);
  EXPECT_THAT(log.lines, Contains(AllOf(HasSubstr(tar_), HasSubstr("keys of 2 samples"))));
}

TEST_F(MembersApart, AreLeftOutByPackIfTheyHaveNoImage) {
  const PackResult result = pack({tar_}, folder_.path("out"), {});
  EXPECT_EQ(result.samples, 2);
  ASSERT_EQ(result.bad.size(), 2u);
  EXPECT_EQ(result.bad[0].key, "a");
  EXPECT_THAT(result.bad[0].reason, HasSubstr("no image"));
  EXPECT_TRUE(verify({folder_.path("out")}, {}).bad.empty());
}

TEST_F(MembersApart, AreNotPackedIntoOneShardByOneKey) {
  const std::string one = folder_.write("1.tar", tar_member("a.png", png_) + tar_member("b.png", png_) + tar_end());
  const std::string two = folder_.write(
      "2.tar", tar_member("b.png", png_) + tar_member("c.png", png_) + tar_member("a.png", png_) + tar_end());
  const LogCapture log;
  const PackResult result = pack({one, two}, folder_.path("out"), {});
  EXPECT_EQ(result.samples, 5);
  EXPECT_EQ(result.shards, 2);
  EXPECT_TRUE(result.bad.empty());
  EXPECT_THAT(log.lines, Contains(AllOf(HasSubstr("1 shard"), HasSubstr("'b'"))));
  EXPECT_TRUE(verify({folder_.path("out")}, {}).bad.empty());
}

}  // namespace
}  // namespace stoker
