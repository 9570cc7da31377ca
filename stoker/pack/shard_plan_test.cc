#include "stoker/pack/shard_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PlanOfVerify : public PackOfTinyFolder {
 protected:
  void plan(const std::string& data) {
    data_ = {data};
    tasks_ = static_cast<std::size_t>(plan_verify(data_, plan_, {}).tasks);
  }
  VerifyResult do_all() { return verify_tasks(data_, plan_, {{.first = 0, .last = tasks_ - 1}}, {}); }
  VerifyResult merge() { return merge_verify(data_, plan_, {}); }

  /// The same number of bytes, at a time that no earlier call gave a file.
  void flip(const std::string& path, std::size_t at) {
    std::string bytes = read_file(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    const auto before = fs::last_write_time(path);
    folder_.write(fs::relative(path, folder_.path()).string(), bytes);
    fs::last_write_time(path, before + std::chrono::seconds(1));
  }

  std::string plan_ = folder_.path("verify.plan");
  std::vector<std::string> data_;
  std::size_t tasks_ = 0;
};

TEST_F(PlanOfVerify, ReadsAShardAgainThatHasChangedSinceItsTask) {
  pack_to("packed", {.shard_bytes = 20'000});
  const std::string hurt = folder_.path("packed/shard-000001.tar");
  plan(folder_.path("packed"));
  const auto tasks = static_cast<std::int64_t>(tasks_);
  ASSERT_GT(tasks, 2);
  EXPECT_EQ(do_all().current, 0);
  EXPECT_EQ(do_all().current, tasks);
  EXPECT_EQ(merge().samples, 60);

  flip(hurt, fs::file_size(hurt) / 2);
  const VerifyResult stale = merge();
  ASSERT_EQ(stale.bad.size(), 1u);
  EXPECT_EQ(stale.bad[0].shard, hurt);
  EXPECT_THAT(stale.bad[0].reason, AllOf(HasSubstr("has changed since task 1 of"), HasSubstr("do that task again")));
  EXPECT_LT(stale.samples, 60) << "what an earlier version held is not told";
  const VerifyResult again = do_all();
  EXPECT_EQ(again.current, tasks - 1);
  ASSERT_FALSE(again.bad.empty());
  EXPECT_THAT(again.bad[0].reason, Not(HasSubstr("changed since task")));
  EXPECT_EQ(merge().bad.size(), again.bad.size());

  flip(hurt, fs::file_size(hurt) / 2);
  EXPECT_EQ(merge().bad.size(), 1u) << "it is not what was found to be damaged";
  EXPECT_TRUE(do_all().bad.empty());
  EXPECT_TRUE(merge().bad.empty());
  EXPECT_EQ(do_all().current, tasks);
}

TEST_F(PlanOfVerify, ReadsAFolderAgainWhoseFilesHaveChanged) {
  plan(source_);
  ASSERT_EQ(tasks_, 1u);
  EXPECT_TRUE(do_all().bad.empty());
  EXPECT_EQ(do_all().current, 1);
  const std::string image = folder_.path("loose/c0000/0000001.png");
  const std::size_t middle = fs::file_size(image) / 2;
  const auto expect_changed = [&](const char* what) {
    EXPECT_EQ(merge().bad.size(), 1u) << what;
    EXPECT_EQ(do_all().current, 0) << what;
    EXPECT_EQ(do_all().current, 1) << what;
  };
  flip(image, middle);
  expect_changed("other bytes");
  EXPECT_FALSE(merge().bad.empty());
  flip(image, middle);
  expect_changed("its own bytes again");
  EXPECT_TRUE(merge().bad.empty());
  folder_.write("loose/c0000/new.png", as_text(noisy_png(8, 8, 1)));
  expect_changed("one more file");
  EXPECT_EQ(merge().samples, 61);
}

TEST_F(PlanOfVerify, TakesACopyOfTheSameTimeForTheShard) {
  pack_to("packed");
  const std::string shard = folder_.path("packed/shard-000000.tar"), copy = folder_.path("copy.tar");
  plan(folder_.path("packed"));
  do_all();
  fs::copy_file(shard, copy);
  fs::last_write_time(copy, fs::last_write_time(shard));
  fs::rename(copy, shard);
  EXPECT_TRUE(merge().bad.empty());
  EXPECT_EQ(do_all().current, 1);
}

}  // namespace
}  // namespace stoker
