#include "stoker/runtime/tuning/kept_tuning.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

const TuningKey kKey = {
    .machine = "a machine, 8 cores", .device = "cuda:0", .data = 7, .recipe = 8, .batch = 256, .world = 2};
constexpr KnobSetting kKnobs = {.threads = 5, .transfer_index = 1, .prefetch = 3, .io_depth = 64};

TEST(KeptTuning, IsThereInTheNextRun) {
  const TempFolder cache;
  KeptTuning(cache.path(), kKey).save(kKnobs);
  EXPECT_EQ(KeptTuning(cache.path(), kKey).load(), kKnobs);
  KeptTuning(cache.path(), kKey).save({.threads = 6});
  EXPECT_EQ(KeptTuning(cache.path(), kKey).load(), KnobSetting{.threads = 6});
}

TEST(KeptTuning, IsForTheSameWorkOnTheSameMachineOnly) {
  const TempFolder cache;
  KeptTuning(cache.path(), kKey).save(kKnobs);
  std::vector<TuningKey> others(6, kKey);
  others[0].machine = "a machine, 4 cores";
  others[1].device = "cpu";
  others[2].data = 6;
  others[3].recipe = 9;
  others[4].batch = 128;
  others[5].world = 1;
  for (const TuningKey& other : others) EXPECT_FALSE(KeptTuning(cache.path(), other).load());
}

TEST(KeptTuning, OfAnotherKeyUnderTheSameNameIsIgnored) {
  const TempFolder cache;
  TuningKey other = kKey;
  other.machine = "another machine";
  const KeptTuning kept(cache.path(), kKey), foreign(cache.path(), other);
  foreign.save(kKnobs);
  std::filesystem::copy_file(foreign.path(), kept.path());
  EXPECT_FALSE(kept.load());
}

TEST(KeptTuning, ThatIsDamagedIsIgnored) {
  const TempFolder cache;
  const KeptTuning kept(cache.path(), kKey);
  kept.save(kKnobs);
  std::ifstream file(kept.path());
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto load_of = [&](const std::string& content) {
    std::ofstream(kept.path(), std::ios::trunc) << content;
    return kept.load();
  };
  for (std::size_t length = 0; length + 3 < good.size(); ++length) {
    EXPECT_FALSE(load_of(good.substr(0, length))) << length;
  }
  const std::size_t at = good.find("prefetch 3");
  ASSERT_NE(at, std::string::npos) << good;
  EXPECT_FALSE(load_of(std::string(good).replace(at, 10, "prefetch x")));
  EXPECT_FALSE(load_of(std::string(good).replace(at, 10, "prefetch 99999999999")));
  EXPECT_FALSE(load_of("\xff\xfe"));
  EXPECT_EQ(load_of(good), kKnobs);
}

TEST(KeptTuning, IsNowhereWithoutAFolder) {
  const KeptTuning kept("", kKey);
  kept.save(kKnobs);
  EXPECT_FALSE(kept.load());
}

TEST(KeptTuning, ThatCannotBeWrittenIsNotKept) {
  const TempFolder cache;
  std::ofstream(cache.path() + "/tuning") << "no folder";
  const KeptTuning kept(cache.path(), kKey);
  kept.save(kKnobs);
  EXPECT_FALSE(kept.load());
}

}  // namespace
}  // namespace stoker
