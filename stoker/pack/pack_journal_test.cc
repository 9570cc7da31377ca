#include "stoker/pack/pack_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PackJournalOf : public PackOfTinyFolder {
 protected:
  /// With a limit that gives a pack several shards.
  PackOptions strict() const { return {.shard_bytes = 20'000, .bad = BadSamplePolicy::kFail, .threads = 1}; }
};

TEST_F(PackJournalOf, APackThatFailedBeforeItsFirstShardIsBegunAnew) {
  folder_.write("loose/c0000/0000000-bad.jpg", "no picture");
  EXPECT_EQ(error_of([&] { pack_to("out", strict()); }).kind(), ErrorKind::kBadSample);
  fs::remove(folder_.path("loose/c0000/0000000-bad.jpg"));
  const PackResult result = pack_to("out", strict());
  EXPECT_EQ(result.samples, 60);
  EXPECT_EQ(result.resumed, 0);
  pack_to("alone", strict());
  EXPECT_EQ(files_below(folder_.path("out")), files_below(folder_.path("alone")));
}

TEST_F(PackJournalOf, APackOfOtherDataThatHasAShardIsNot) {
  stop_pack_to("out", strict(), 40);
  ASSERT_TRUE(fs::exists(folder_.path("out/shard-000000.tar")));
  fs::copy_file(fs::directory_iterator(folder_.path("loose/c0003"))->path(), folder_.path("loose/c0003/9999999.jpg"));
  const Error error = error_of([&] { pack_to("out", strict()); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("changed since"));
}

}  // namespace
}  // namespace stoker
