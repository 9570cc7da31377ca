#include "stoker/device/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

// An accelerator whose steps of 10 ms pass in no time; it keeps the deadlines that they would have waited for.
struct TimelessAccelerator {
  std::vector<std::int64_t> deadlines_ms;
  EmulatedAccelerator accelerator{0.010,
                                  [this](std::int64_t deadline_ns) { deadlines_ms.push_back(deadline_ns / kMs); }};

  void step_on_batches_ready_at_ms(std::initializer_list<std::int64_t> ready_ms) {
    for (const std::int64_t ms : ready_ms) accelerator.step(ms * kMs);
  }
};

TEST(EmulatedAccelerator, WaitsFromTheFirstBatchOnToDeadlinesThatFollowEachOther) {
  TimelessAccelerator timeless;
  timeless.step_on_batches_ready_at_ms({1000, 1000, 1001});
  EXPECT_THAT(timeless.deadlines_ms, ElementsAre(1010, 1020, 1030));
  EXPECT_DOUBLE_EQ(timeless.accelerator.busy_s(), 0.030);
  EXPECT_DOUBLE_EQ(timeless.accelerator.wait_s(), 0);
  EXPECT_DOUBLE_EQ(timeless.accelerator.utilisation(), 1);
}

TEST(EmulatedAccelerator, BeginsAStepWhenALateBatchIsReady) {
  TimelessAccelerator timeless;
  timeless.step_on_batches_ready_at_ms({1000, 1030, 1035});
  EXPECT_THAT(timeless.deadlines_ms, ElementsAre(1010, 1040, 1050));
  EXPECT_DOUBLE_EQ(timeless.accelerator.busy_s(), 0.030);
  EXPECT_DOUBLE_EQ(timeless.accelerator.wait_s(), 0.020);
  EXPECT_DOUBLE_EQ(timeless.accelerator.utilisation(), 0.6);
}

TEST(EmulatedAccelerator, CountsNeitherBusyNorWaitingBeforeTheFirstBatch) {
  TimelessAccelerator timeless;
  EXPECT_EQ(timeless.accelerator.utilisation(), 0);
  EXPECT_EQ(timeless.accelerator.busy_s(), 0);
  EXPECT_EQ(timeless.accelerator.wait_s(), 0);
  timeless.step_on_batches_ready_at_ms({3'600'000});
  EXPECT_EQ(timeless.accelerator.utilisation(), 1);
}

TEST(EmulatedAccelerator, LetsWhoeverWaitsEndAStep) {
  EmulatedAccelerator accelerator(1000, [](std::int64_t) { fail(ErrorKind::kClosed, "stopped"); });
  EXPECT_THROW(accelerator.step(0), Error);
}

TEST(EmulatedAccelerator, SleepsUntilTheDeadlineUnlessToldOtherwise) {
  EmulatedAccelerator accelerator(0.001);
  const std::int64_t ready_ns = now_ns();
  accelerator.step(ready_ns);
  accelerator.step(ready_ns);
  EXPECT_GE(now_ns(), ready_ns + 2 * kMs);
}

TEST(AcceleratorStepSeconds, TakesANumberOfSecondsWhateverTheBatch) {
  EXPECT_EQ(accelerator_step_seconds("0.25", 1), 0.25);
  EXPECT_EQ(accelerator_step_seconds("0.25", 400), 0.25);
  EXPECT_EQ(accelerator_step_seconds("1e-3", 7), 0.001);
}

TEST(AcceleratorStepSeconds, ScalesAProfileWithTheBatch) {
  EXPECT_DOUBLE_EQ(accelerator_step_seconds("mlperf:resnet50/h100", 400), 0.224);
  EXPECT_DOUBLE_EQ(accelerator_step_seconds("mlperf:resnet50/h100", 100), 0.056);
  EXPECT_DOUBLE_EQ(accelerator_step_seconds("mlperf:resnet50/a100", 400), 0.435);
  EXPECT_DOUBLE_EQ(accelerator_step_seconds("mlperf:resnet50/v100", 128), 0.390);
}

TEST(AcceleratorStepSeconds, SuggestsTheNearestProfile) {
  try {
    accelerator_step_seconds("mlperf:resnet50/h10", 400);
    FAIL() << "a profile that does not exist was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("did you mean 'mlperf:resnet50/"), HasSubstr("mlperf:resnet50/v100")));
  }
}

TEST(AcceleratorStepSeconds, NamesTheWorkloadsWhereNoneWasMeant) {
  for (const char* text : {"gpu", "a100/resnet50", ""}) {
    EXPECT_THAT(error_of([&] { accelerator_step_seconds(text, 1); }).message(),
                HasSubstr("mlperf:NAME/GPU, where NAME is resnet50, unet3d, "))
        << text;
  }
}

TEST(AcceleratorStepSeconds, RefusesWhatIsNoTime) {
  for (const char* text : {"0", "-1", "nan", "inf", "1e9", "", "1 s", "0.1x"}) {
    try {
      accelerator_step_seconds(text, 400);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
    }
  }
}

TEST(Accelerator, CountsOfAStepThatIsCutShortWhatPassedOfIt) {
  constexpr double kStepS = 1e6;
  EmulatedAccelerator accelerator(kStepS, [](std::int64_t) { fail(ErrorKind::kClosed, "stopped"); });
  EXPECT_EQ(error_of([&] { accelerator.step(now_ns()); }).kind(), ErrorKind::kClosed);
  EXPECT_LT(accelerator.busy_s(), kStepS / 2) << "of a step of days";
  EXPECT_EQ(accelerator.wait_s(), 0);
}

}  // namespace
}  // namespace stoker
