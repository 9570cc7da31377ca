#include "stoker/runtime/samples/sample_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error_testing.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSeed = 3;

class SampleTrials : public ::testing::Test {
 protected:
  TriedSamples try_of(std::int64_t count, BadSlotPolicy policy) {
    seen_.clear();
    return try_samples(*data_.dataset, {.seed = kSeed, .count = count, .bad_sample = policy},
                       [&](std::int64_t sample, std::int64_t position) {
                         seen_.push_back(sample);
                         EXPECT_EQ(order_.sample_at(position), sample);
                         if (bad_.contains(position)) fail(ErrorKind::kBadSample, "it is no good");
                         return static_cast<int>(seen_.size()) != enough_;
                       });
  }
  std::vector<std::int64_t> at(const std::vector<std::int64_t>& positions) const {
    std::vector<std::int64_t> samples;
    for (const std::int64_t position : positions) samples.push_back(*order_.sample_at(position));
    return samples;
  }

  const MemoryDataset data_ = memory_dataset({.samples = 10, .tiny = true});
  const EpochOrder order_{{.samples = 10, .seed = kSeed}, 0};
  std::set<std::int64_t> bad_;  // positions
  std::vector<std::int64_t> seen_;
  int enough_ = -1;
};

TEST_F(SampleTrials, TakeTheNextSampleOfTheOrderInABadOnesPlace) {
  bad_ = {0, 2};
  const TriedSamples tried = try_of(3, BadSlotPolicy::kSubstitute);
  EXPECT_THAT(tried.good, ElementsAreArray(at({1, 3, 4})));
  ASSERT_THAT(tried.bad, SizeIs(2));
  EXPECT_EQ(tried.bad[1].key, data_.dataset->key(at({2})[0]));
  EXPECT_EQ(tried.bad[1].reason, "it is no good");
}

TEST_F(SampleTrials, AreFewerWhereBadOnesAreSkipped) {
  bad_ = {0, 2};
  EXPECT_THAT(try_of(3, BadSlotPolicy::kSkip).good, ElementsAreArray(at({1})));
  EXPECT_THAT(seen_, SizeIs(3));
}

TEST_F(SampleTrials, FailAtTheFirstBadOneIfTheyAreTo) {
  bad_ = {1};
  const Error error = error_of([&] { try_of(3, BadSlotPolicy::kFail); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(data_.dataset->key(at({1})[0])), HasSubstr("it is no good")));
}

TEST_F(SampleTrials, FailWhereNotOneIsGood) {
  for (int i = 0; i < 10; ++i) bad_.insert(i);
  for (const auto policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    const Error error = error_of([&] { try_of(4, policy); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("none of the samples"), HasSubstr(data_.dataset->key(at({0})[0]))));
    EXPECT_THAT(seen_, SizeIs(policy == BadSlotPolicy::kSkip ? 4 : 10));
  }
}

TEST_F(SampleTrials, EndWhenThereIsEnough) {
  enough_ = 2;
  EXPECT_THAT(try_of(9, BadSlotPolicy::kSubstitute).good, ElementsAreArray(at({0, 1})));
  EXPECT_THAT(try_of(99, BadSlotPolicy::kSubstitute).bad, IsEmpty());
}

TEST_F(SampleTrials, PassOnWhatIsNoFaultOfASample) {
  const auto broken = [](std::int64_t, std::int64_t) -> bool { fail(ErrorKind::kIo, "the disk is gone"); };
  const Error error = error_of([&] { try_samples(*data_.dataset, {.seed = kSeed, .count = 3}, broken); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("memory.tar, sample '"));
}

}  // namespace
}  // namespace stoker
