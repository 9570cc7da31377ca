#include "stoker/doctor/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Prediction prediction_of(double rate, double needed, double idle, std::vector<Limit> limits) {
  Prediction prediction;
  prediction.samples_per_s = rate;
  prediction.samples_per_s_needed = needed;
  prediction.gpu_idle = idle;
  prediction.limits = std::move(limits);
  prediction.miss_share = 0;
  return prediction;
}

const std::vector<Limit> kStarvedLimits = {
    {Limiter::kCpuDecode, 1000}, {Limiter::kStorageBandwidth, 1400}, {Limiter::kStep, 1600}, {Limiter::kCopy, 40'000}};

std::vector<std::pair<std::string, int>> told(const TrainingVerdict& verdict) {
  std::vector<double> shares;
  for (const TimePart& part : verdict.gpu_time) shares.push_back(part.share);
  const std::vector<int> percents = whole_percents(shares);
  std::vector<std::pair<std::string, int>> parts;
  for (std::size_t i = 0; i < percents.size(); ++i) parts.emplace_back(verdict.gpu_time[i].text(), percents[i]);
  return parts;
}

TEST(TrainingVerdict, SaysWhatLimitsAndWhatIsNext) {
  const TrainingVerdict verdict = judge(healthy_facts(), prediction_of(1000, 1600, 0.38, kStarvedLimits));
  EXPECT_EQ(verdict.sentence, "GPU idle 38%: CPU decode is the limit; next limit storage bandwidth at 1.4x");
  EXPECT_EQ(verdict.bound, BoundClass::kHighly);
  EXPECT_FALSE(verdict.fed());
  EXPECT_TRUE(verdict.measurable());
  EXPECT_EQ(verdict.bottleneck.limiter, Limiter::kCpuDecode);
}

TEST(TrainingVerdict, SaysThatThereIsNothingToBuy) {
  const TrainingVerdict verdict =
      judge(healthy_facts(), prediction_of(1600, 1600, 0.01, {{Limiter::kStep, 1600}, {Limiter::kCpuDecode, 4000}}));
  EXPECT_EQ(verdict.sentence, "Fed: the step is the limit; next limit CPU decode at 2.5x; nothing to buy");
  EXPECT_TRUE(verdict.fed());
}

TEST(TrainingVerdict, HasThreeClassesByIdleTime) {
  const auto bound = [](double idle) {
    return judge(healthy_facts(), prediction_of(1600 * (1 - idle), 1600, idle, kStarvedLimits)).bound;
  };
  EXPECT_EQ(bound(0.049), BoundClass::kFed);
  EXPECT_EQ(bound(0.05), BoundClass::kModerately);
  EXPECT_EQ(bound(0.2), BoundClass::kModerately);
  EXPECT_EQ(bound(0.201), BoundClass::kHighly);
}

TEST(TrainingVerdict, DividesTheWaitAmongTheLimitsThatAreBelowTheDemand) {
  // A sample takes 1/1,000 s, of which 1/1,400 and 1/1,600 would remain; the simulation adds 2.8%.
  const TrainingVerdict verdict = judge(healthy_facts(), prediction_of(1000, 1600, 0.403, kStarvedLimits));
  EXPECT_THAT(told(verdict),
              ElementsAre(std::pair("busy", 60), std::pair("waits for CPU decode", 28),
                          std::pair("waits for storage bandwidth", 9), std::pair("waits for uneven batches", 3)));
}

TEST(TrainingVerdict, BlamesTheFirstLimitWhereOnlyUnevennessMakesItWait) {
  const TrainingVerdict verdict = judge(
      healthy_facts(), prediction_of(1470, 1600, 0.08, {{Limiter::kStep, 1600}, {Limiter::kStorageRequests, 1650}}));
  EXPECT_EQ(verdict.bottleneck.limiter, Limiter::kStorageRequests);
  EXPECT_THAT(verdict.sentence, HasSubstr("GPU idle 8%: storage requests are the limit"));
  EXPECT_THAT(told(verdict), ElementsAre(std::pair("busy", 92), std::pair("waits for uneven batches", 8)));
}

TEST(TrainingVerdict, SplitsAllOfTheTimeWhateverTheNumbersAre) {
  for (const double idle : {0.0, 1e-5, 0.03, 0.3, 0.6, 0.999}) {
    for (const double rate : {1.0, 900.0, 1000.0, 1600.0}) {
      const TrainingVerdict verdict = judge(healthy_facts(), prediction_of(rate, 1600, idle, kStarvedLimits));
      double sum = 0;
      for (const TimePart& part : verdict.gpu_time) {
        EXPECT_GE(part.share, 0);
        sum += part.share;
      }
      EXPECT_NEAR(sum, 1, 1e-12) << idle << " at " << rate;
    }
  }
}

TEST(TrainingVerdict, CannotSayWithoutAStep) {
  Facts facts = healthy_facts();
  facts.step = {};
  const TrainingVerdict verdict = judge(facts, prediction_of(1000, 0, 0, {{Limiter::kCpuDecode, 1000}}));
  EXPECT_FALSE(verdict.measurable());
  EXPECT_EQ(verdict.sentence, "Not measurable: it is not known how fast the training takes samples");
  EXPECT_THAT(verdict.tentative, HasSubstr("CPU decode is the limit"));
}

TEST(TrainingVerdict, CannotSayOnANoisyMachine) {
  Facts facts = healthy_facts();
  facts.machine.stolen_share = 0.31;
  const TrainingVerdict verdict = judge(facts, prediction_of(1000, 1600, 0.38, kStarvedLimits));
  EXPECT_THAT(verdict.sentence, HasSubstr("Not measurable: while it was measured"));
  EXPECT_THAT(verdict.sentence, HasSubstr("took 31% of their time"));
}

TEST(TrainingVerdict, BelievesThatGpusAreFedBesideNoise) {
  Facts facts = healthy_facts();
  facts.machine.stolen_share = 0.31;
  const TrainingVerdict verdict =
      judge(facts, prediction_of(1600, 1600, 0, {{Limiter::kStep, 1600}, {Limiter::kCpuDecode, 4000}}));
  EXPECT_TRUE(verdict.measurable());
  EXPECT_TRUE(verdict.fed());
}

TEST(TrainingVerdict, CannotSayOfAStoreThatThrottled) {
  Facts facts = object_store_facts();
  facts.store->throttled = true;
  EXPECT_FALSE(judge(facts, prediction_of(1000, 1600, 0.38, kStarvedLimits)).measurable());
}

TEST(TrainingVerdict, NeedsColdFiguresOnlyOfDataThatComeFromTheDisk) {
  Facts facts = healthy_facts();
  facts.storage->cold_bytes_per_s.caveat = "read from the page cache";
  facts.storage->cold.clear();
  Prediction now = prediction_of(1000, 1600, 0.38, kStarvedLimits);
  EXPECT_THAT(judge(facts, now).not_measured, IsEmpty());
  now.miss_share = 0.4;
  EXPECT_THAT(judge(facts, now).sentence, HasSubstr("could not be measured: read from the page cache"));
  facts.storage->device_class = "memory";
  EXPECT_THAT(judge(facts, now).not_measured, IsEmpty());
}

TEST(WholePercents, SumToAHundred) {
  EXPECT_THAT(whole_percents({1.0 / 3, 1.0 / 3, 1.0 / 3}), ElementsAre(34, 33, 33));
  EXPECT_THAT(whole_percents({0.625, 0.37, 0.005}), ElementsAre(63, 37, 0));
  EXPECT_THAT(whole_percents({1}), ElementsAre(100));
  std::vector<double> shares(7, 1.0 / 7);
  const std::vector<int> percents = whole_percents(shares);
  EXPECT_EQ(std::accumulate(percents.begin(), percents.end(), 0), 100);
}

}  // namespace
}  // namespace stoker
