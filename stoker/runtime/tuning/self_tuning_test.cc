#include "stoker/runtime/tuning/self_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "stoker/base/error.h"
#include "stoker/plan/device_batch.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr int kBatch = 32;

// A simulated loader, its consumer, and their clock: a batch's time follows from the knobs, and no real time passes.
class PlayedLoader final : public TunedLoader {
 public:
  std::array<double, 4> cpu_us = {100, 4000, 4500, 5000};  // of a sample, by transfer index
  std::array<double, 4> device_us = {0, 0, 0, 0};
  double step_s = 0.1;
  std::function<void(const KnobSetting&)> before_turn = [](const KnobSetting&) {};

  Metrics metrics() const override {
    const std::lock_guard lock(mutex_);
    return metrics_;
  }
  KnobSetting knobs() const override {
    const std::lock_guard lock(mutex_);
    return knobs_;
  }
  void turn(const KnobSetting& knobs) override {
    before_turn(knobs);
    const std::lock_guard lock(mutex_);
    knobs_ = {.threads = fixed_.threads.value_or(knobs.threads),
              .transfer_index = fixed_.transfer_index.value_or(knobs.transfer_index),
              .prefetch = fixed_.prefetch.value_or(knobs.prefetch),
              .io_depth = fixed_.io_depth.value_or(knobs.io_depth)};
    ++turns_;
  }
  /// Sets a knob as the user would.
  void set(const Knobs& knobs) {
    {
      const std::lock_guard lock(mutex_);
      fixed_.take(knobs);
    }
    turn(this->knobs());
  }
  std::optional<std::vector<CrossingCost>> calibrate(const std::function<bool()>& /*stop*/) override {
    ++calibrations;
    std::vector<CrossingCost> costs;
    for (std::size_t i = 0; i < cpu_us.size(); ++i) costs.push_back({cpu_us[i], 1000, device_us[i]});
    return costs;
  }

  /// One batch, as the knobs make it.
  BatchPeriod next() {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(knobs_.transfer_index);
    const double cpu_s = kBatch * cpu_us[index] * 1e-6, device_s = kBatch * device_us[index] * 1e-6;
    const double made_s = std::max(cpu_s / knobs_.threads, device_s);
    metrics_[stage_ns(StageSide::kCpu, Stage::kDecode)] += std::llround(cpu_s * 1e9);
    metrics_[stage_ns(StageSide::kDevice, Stage::kDecode)] += std::llround(device_s * 1e9);
    return {.step_ns = std::llround(step_s * 1e9),
            .wait_ns = std::llround(std::max(0.0, made_s - step_s) * 1e9),
            .made = kBatch};
  }
  int turns() const {
    const std::lock_guard lock(mutex_);
    return turns_;
  }

  std::atomic<int> calibrations{0};

 private:
  mutable std::mutex mutex_;
  Metrics metrics_;
  KnobSetting knobs_ = {.threads = 7, .transfer_index = 3, .prefetch = 2, .io_depth = 256};
  Knobs fixed_;
  int turns_ = 0;
};

class SelfTuningTest : public ::testing::Test {
 protected:
  SelfTuningOptions options() const {
    SelfTuningOptions options;
    options.workload.cores = 8;
    options.workload.batch = kBatch;
    options.workload.prefetch_max = 8;
    options.workload.io_depth_max = 256;
    options.limits.fixed.transfer_index = 3;
    options.limits.fits = [](int /*transfer_index*/, int prefetch) { return prefetch <= 8; };
    options.share.threads_max = threads_max(options.workload.cores);
    options.share.table = "/stoker-self-tuning-test-" + std::to_string(::getpid());
    return options;
  }

  void begin(const SelfTuningOptions& options) {
    tuning_ = std::make_unique<SelfTuning>(loader_, options);
    tuning_->start();
  }

  // Trains until the condition holds, or hangs: the tuning thread may start late on a busy machine.
  bool train_until(const std::function<bool()>& done) {
    const auto hangs = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int batches = 0; !done(); ++batches) {
      tuning_->delivered(loader_.next());
      if (batches % 256 != 0) continue;
      if (std::chrono::steady_clock::now() > hangs) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool settles(std::size_t windows_before = 0) {
    return train_until([&] {
      const TuningLog log = tuning_->log();
      return log.moves.size() > windows_before && log.moves.back().settled_on &&
             loader_.knobs() == log.moves.back().next;  // knobs are turned after the move is reported
    });
  }

  PlayedLoader loader_;
  std::unique_ptr<SelfTuning> tuning_;
};

TEST_F(SelfTuningTest, FindsTheFewestThreadsThatFeedTheConsumer) {
  begin(options());  // a batch takes a thread 160 ms, and training 100 ms
  ASSERT_TRUE(settles());
  EXPECT_EQ(loader_.knobs().threads, 2);
  EXPECT_EQ(loader_.knobs().transfer_index, 3);
  const TuningMove last = tuning_->log().moves.back();
  EXPECT_NEAR(static_cast<double>(last.window.samples) / last.window.seconds, 320, 1);
  EXPECT_NEAR(last.window.wait_s, 0, 1e-9);
}

TEST_F(SelfTuningTest, FindsTheIndexThatTheDevicesSpeedCallsFor) {
  SelfTuningOptions free = options();
  free.limits.fixed.transfer_index.reset();
  loader_.step_s = 0.004;
  int last = -1;
  for (const double slow : {1000.0, 60.0, 1.0}) {  // times of a device that gets faster
    loader_.device_us = {5 * slow, 2.2 * slow, 1 * slow, 0};
    begin(free);
    ASSERT_TRUE(settles());
    tuning_->stop();
    if (last >= 0) {
      EXPECT_LE(loader_.knobs().transfer_index, last);
    } else {
      EXPECT_EQ(loader_.knobs().transfer_index, 3) << "the device is slower than all cores";
    }
    last = loader_.knobs().transfer_index;
  }
  EXPECT_EQ(last, 0);
  EXPECT_EQ(loader_.calibrations, 3);
}

TEST_F(SelfTuningTest, LooksAgainWhenTrainingChanges) {
  begin(options());
  ASSERT_TRUE(settles());
  ASSERT_EQ(loader_.knobs().threads, 2);
  loader_.step_s = 0.035;
  const std::size_t before = tuning_->log().moves.size();
  ASSERT_TRUE(train_until([&] {
    const TuningLog log = tuning_->log();
    return log.moves.size() > before + 10 && log.moves.back().settled_on && log.moves.back().next.threads > 2 &&
           loader_.knobs() == log.moves.back().next;
  }));
  EXPECT_EQ(loader_.knobs().threads, 5) << "160 ms of a thread, in 35";
}

TEST_F(SelfTuningTest, OnceIsForGood) {
  SelfTuningOptions once = options();
  once.once = true;
  begin(once);
  ASSERT_TRUE(settles());
  const std::size_t windows = tuning_->log().moves.size();
  loader_.step_s = 0.02;
  for (int i = 0; i < 10'000; ++i) tuning_->delivered(loader_.next());
  tuning_->stop();
  EXPECT_EQ(loader_.knobs().threads, 2);
  EXPECT_EQ(tuning_->log().moves.size(), windows);
}

TEST_F(SelfTuningTest, LeavesAloneWhatTheUserFixed) {
  SelfTuningOptions fixed = options();
  fixed.limits.fixed.threads = 4;
  loader_.turn({.threads = 4, .transfer_index = 3, .prefetch = 2, .io_depth = 256});
  loader_.before_turn = [](const KnobSetting& knobs) { EXPECT_EQ(knobs.threads, 4); };
  begin(fixed);
  ASSERT_TRUE(settles());
  EXPECT_EQ(loader_.knobs().threads, 4);
}

TEST_F(SelfTuningTest, LeavesAloneWhatTheUserFixesLater) {
  begin(options());
  ASSERT_TRUE(settles());
  loader_.set({.threads = 6});
  tuning_->fix({.threads = 6});
  const std::size_t before = tuning_->log().moves.size();
  ASSERT_TRUE(settles(before + 5));
  EXPECT_EQ(loader_.knobs().threads, 6);
}

TEST_F(SelfTuningTest, FindsTheCostsOfAnIndexThatTheUserSetsLater) {
  begin(options());
  ASSERT_TRUE(settles());
  loader_.set({.transfer_index = 0});  // where a sample takes 0.1 ms of a core, and not 5
  tuning_->fix({.transfer_index = 0});
  const std::size_t before = tuning_->log().moves.size();
  ASSERT_TRUE(settles(before + 5));
  EXPECT_EQ(loader_.knobs().transfer_index, 0);
  EXPECT_EQ(loader_.knobs().threads, 1);
  EXPECT_THAT(tuning_->log().moves[before].why, testing::Not(testing::HasSubstr("inf")));
}

TEST_F(SelfTuningTest, BeginsWithWhatWasFoundBefore) {
  const TempFolder cache;
  SelfTuningOptions kept = options();
  kept.cache_folder = cache.path();
  begin(kept);
  ASSERT_TRUE(settles(6));
  tuning_->stop();
  const KnobSetting found = loader_.knobs();
  EXPECT_EQ(found.threads, 2);

  loader_.turn({.threads = 7, .transfer_index = 3, .prefetch = 2, .io_depth = 256});
  const int turns = loader_.turns();
  begin(kept);
  while (loader_.turns() == turns) std::this_thread::yield();  // before any batch
  EXPECT_EQ(loader_.knobs(), found);
  ASSERT_TRUE(settles());
  EXPECT_EQ(loader_.knobs().threads, 2);
}

// Its last window may be of another setting, which was compared.
TEST_F(SelfTuningTest, KeepsWhatItSettledUponOnce) {
  int after_others = 0;
  for (const double step_s : {0.1, 0.05, 0.03, 0.02, 0.01, 0.001}) {
    const TempFolder cache;
    SelfTuningOptions once = options();
    once.once = true;
    once.cache_folder = cache.path();
    loader_.step_s = step_s;
    begin(once);
    ASSERT_TRUE(settles());
    tuning_->stop();
    const TuningMove last = tuning_->log().moves.back();
    after_others += last.knobs != last.next;
    EXPECT_EQ(KeptTuning(cache.path(), once.key).load(), last.next) << "steps of " << step_s;
  }
  EXPECT_GT(after_others, 0);
}

TEST_F(SelfTuningTest, KeepsNothingThatDoesNotFit) {
  const TempFolder cache;
  SelfTuningOptions kept = options();
  kept.cache_folder = cache.path();
  KeptTuning(cache.path(), kept.key)
      .save({.threads = 9999, .transfer_index = 77, .prefetch = 1'000'000, .io_depth = -5});
  loader_.before_turn = [](const KnobSetting& knobs) {
    EXPECT_GE(knobs.threads, 1);
    EXPECT_LE(knobs.threads, threads_max(8));
    EXPECT_EQ(knobs.transfer_index, 3);
    EXPECT_GE(knobs.prefetch, 1);
    EXPECT_LE(knobs.prefetch, 8);
    EXPECT_GE(knobs.io_depth, 1);
    EXPECT_LE(knobs.io_depth, 256);
  };
  begin(kept);
  ASSERT_TRUE(settles());
  EXPECT_EQ(loader_.knobs().threads, 2);
}

TEST_F(SelfTuningTest, SharesTheCoresWithOtherLoaders) {
  SelfTuningOptions shared = options();
  loader_.step_s = 0.001;  // never enough
  HostShare other({}, shared.share);
  other.update(0);
  std::vector<std::string> news;
  std::mutex mutex;
  shared.moved = [&](const TuningMove& move) {
    const std::lock_guard lock(mutex);
    if (move.why.find("other loader") != std::string::npos) news.push_back(move.why);
  };
  begin(shared);
  ASSERT_TRUE(settles());
  EXPECT_LE(loader_.knobs().threads, 4) << "half of 7, rounded up";
  EXPECT_GE(loader_.knobs().threads, 3);
  other.update(1);  // it needs no more than that: the rest is for whom it helps
  ASSERT_TRUE(train_until([&] { return loader_.knobs().threads > 4; }));
  tuning_->stop();
  ASSERT_EQ(news.size(), 2u) << "once for each share, not for each window";
  EXPECT_THAT(news[0], ::testing::MatchesRegex(
                           "1 other loader of this host uses the same 8 cores: this one may use [34] threads"));
  EXPECT_EQ(news[1], "1 other loader of this host uses the same 8 cores: this one may use 6 threads");
}

TEST_F(SelfTuningTest, BeginsWithNoMoreThreadsThanOthersLeave) {
  SelfTuningOptions shared = options();
  loader_.step_s = 0.001;
  HostShare other({}, shared.share);
  // It comes when the first costs are known, and is there before the tuner says what it begins with.
  int turns = 0;
  loader_.before_turn = [&](const KnobSetting&) {
    if (turns++ == 0) other.update(0);
  };
  std::vector<std::string> told;
  std::mutex mutex;
  shared.moved = [&](const TuningMove& move) {
    const std::lock_guard lock(mutex);
    told.push_back(move.why);
    EXPECT_TRUE(!move.why.starts_with("begins with ") || move.next.threads <= 4) << move.why;
  };
  begin(shared);
  ASSERT_TRUE(settles());
  tuning_->stop();
  ASSERT_GE(told.size(), 2u);
  EXPECT_THAT(told[0], ::testing::StartsWith("1 other loader of this host"));
  EXPECT_THAT(told[1], ::testing::MatchesRegex("begins with [1-4] threads?[, ].*"));
}

TEST_F(SelfTuningTest, SaysNothingOfOtherLoadersWhereThereAreNone) {
  SelfTuningOptions alone = options();
  std::atomic<int> told = 0;
  alone.moved = [&](const TuningMove& move) { told += move.why.find("loader") != std::string::npos ? 1 : 0; };
  begin(alone);
  ASSERT_TRUE(settles());
  tuning_->stop();
  EXPECT_EQ(told, 0);
}

TEST_F(SelfTuningTest, EndsAtOnceWhenItIsToldTo) {
  begin(options());
  tuning_->stop();
  tuning_->stop();
  EXPECT_TRUE(tuning_->log().moves.empty());
  tuning_->delivered(loader_.next());
}

TEST_F(SelfTuningTest, EndsWhenWhoHearsItsNewsTellsItTo) {
  SelfTuningOptions options = this->options();
  std::atomic<int> told = 0, stopped = 0;
  options.moved = [&](const TuningMove&) {
    ++told;
    tuning_->stop();
    ++stopped;
  };
  begin(options);
  ASSERT_TRUE(train_until([&] { return stopped == 1; }));
  tuning_->stop();
  EXPECT_EQ(told, 1) << "the thread has ended";
}

TEST_F(SelfTuningTest, EndsWhereAKnobCannotBeTurned) {
  loader_.before_turn = [](const KnobSetting&) { fail(ErrorKind::kMemory, "no more threads"); };
  begin(options());
  for (int i = 0; i < 10'000; ++i) tuning_->delivered(loader_.next());
  tuning_->stop();
  EXPECT_EQ(loader_.knobs().threads, 7);
}

TEST_F(SelfTuningTest, TellsItsNewsAndKeepsAllOfIt) {
  std::vector<std::string> news;
  std::mutex mutex;
  SelfTuningOptions told = options();
  told.title = "a test";
  told.moved = [&](const TuningMove& move) {
    const std::lock_guard lock(mutex);
    news.push_back(move.why);
  };
  begin(told);
  ASSERT_TRUE(settles(12));
  tuning_->stop();
  const TuningLog log = tuning_->log();
  EXPECT_EQ(log.title, "a test");
  EXPECT_FALSE(log.first_why.empty());
  EXPECT_EQ(log.workload.cores, 8);
  ASSERT_FALSE(news.empty());
  EXPECT_EQ(news.back(), log.moves.back().why);
  EXPECT_LT(news.size(), log.moves.size()) << "windows in which nothing happened are no news";
  double at_s = 0;
  for (const TuningMove& move : log.moves) {
    EXPECT_GE(move.at_s, at_s);
    at_s = move.at_s;
    EXPECT_GT(move.window.samples, 0);
  }
}

}  // namespace
}  // namespace stoker
