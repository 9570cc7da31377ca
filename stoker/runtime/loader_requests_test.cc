// Batches that are requested one by one are those of a run, whatever was asked before them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr int kEpochs = 3;

struct Asked {
  const char* name;
  LoaderOptions options;
};

void PrintTo(const Asked& asked, std::ostream* out) { *out << asked.name; }

LoaderOptions with(OrderKind order, Tail tail, int rank = 0, int world = 1) {
  LoaderOptions options{.batch = 6, .seed = 3, .threads = 2, .order = order};
  options.tail = tail;
  options.rank = rank;
  options.world = world;
  if (order == OrderKind::kWindowed) {
    options.window = 5;
    options.lanes = 6;
  }
  return options;
}

class RequestedOf : public testing::TestWithParam<Asked> {};

TEST_P(RequestedOf, AnyOrderTheBatchesAreThoseOfARun) {
  const auto data = memory_dataset({.samples = 50, .bad = {4, 31}}).dataset;
  const LoaderOptions& options = GetParam().options;
  std::map<std::pair<std::int64_t, std::int64_t>, Lines> expected;
  {
    Loader run(data, small_recipe(), options);
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (const BatchPtr& batch : run.epoch(epoch)) expected[{epoch, batch->index}] = audit_of(*batch);
    }
    ASSERT_EQ(std::ssize(expected), kEpochs * run.batches_per_epoch());
  }
  Loader loader(data, small_recipe(), options);
  loader.next();  // of an epoch that is left
  loader.start_requests();
  Random random(7, 0, 0, 0);
  std::vector<LoaderPosition> requests;
  for (int i = 0; i < 60; ++i) {
    const auto epoch = static_cast<std::int64_t>(random.uniform() * kEpochs);
    const auto batch = static_cast<std::int64_t>(random.uniform() * static_cast<double>(loader.batches_per_epoch()));
    requests.push_back({epoch, batch});
  }
  const LoaderPosition stands = loader.position();
  std::size_t asked = 0;
  for (std::size_t taken = 0; taken < requests.size(); ++taken) {
    // Sometimes one at a time, sometimes more than are made ahead.
    const std::size_t ahead = taken % 17 + 1;
    while (asked < std::min(taken + ahead, requests.size())) loader.request(requests[asked++]);
    const BatchPtr batch = loader.next();
    ASSERT_TRUE(batch);
    const auto [epoch, number] = requests[taken];
    ASSERT_EQ(std::pair(batch->epoch, batch->index), std::pair(epoch, number));
    EXPECT_EQ(audit_of(*batch), (expected.at({epoch, number})));
    EXPECT_EQ(loader.position(), stands);
  }
  Lines rest, epoch_again;
  for (const BatchPtr& batch : loader.epoch(1)) {
    const Lines more = audit_of(*batch);
    rest.insert(rest.end(), more.begin(), more.end());
  }
  for (std::int64_t batch = 0; batch < loader.batches_per_epoch(); ++batch) {
    const Lines& more = expected.at({1, batch});
    epoch_again.insert(epoch_again.end(), more.begin(), more.end());
  }
  EXPECT_EQ(rest, epoch_again) << "an epoch is one again";
}

INSTANTIATE_TEST_SUITE_P(Orders, RequestedOf,
                         testing::Values(Asked{"global", with(OrderKind::kGlobal, Tail::kDrop)},
                                         Asked{"kept_tail", with(OrderKind::kGlobal, Tail::kKeep, 1, 2)},
                                         Asked{"padded", with(OrderKind::kNone, Tail::kPad, 1, 2)},
                                         Asked{"windowed", with(OrderKind::kWindowed, Tail::kWrap, 1, 2)}),
                         [](const auto& instance) { return instance.param.name; });

TEST(Requested, FromAnotherThreadWhileTheConsumerWaits) {
  Loader loader(memory_dataset().dataset, small_recipe(), {.batch = 5, .threads = 1});
  loader.start_requests();
  EXPECT_FALSE(loader.next_within(std::chrono::milliseconds(1)).has_value()) << "nothing is requested";
  std::thread other([&] {
    for (int batch = 9; batch >= 0; --batch) loader.request({0, batch});
  });
  for (int batch = 9; batch >= 0; --batch) EXPECT_EQ(loader.next()->index, batch);
  other.join();
}

TEST(Requested, DoNotMoveThePositionOfTheEpochs) {
  Loader loader(memory_dataset().dataset, small_recipe(), {.batch = 5, .threads = 1});
  loader.start_epoch(4);
  for (int batch = 0; batch < 2; ++batch) loader.next();
  const std::string state = loader.state();
  loader.start_requests();
  loader.request({0, 3});
  EXPECT_EQ(loader.next()->index, 3);
  loader.start_requests();  // once more
  EXPECT_EQ(loader.position(), (LoaderPosition{4, 2}));
  EXPECT_EQ(loader.next_epoch(), 5);
  EXPECT_EQ(loader.state(), state);

  loader.load_state(state);
  loader.start_requests();
  loader.request({1, 7});
  EXPECT_EQ(loader.next()->index, 7);
  EXPECT_EQ(loader.state(), state);
  EXPECT_EQ(loader.next_epoch(), 4);
  loader.start_epoch(4);
  EXPECT_EQ(loader.next()->index, 2) << "a state that was loaded is still ahead";
}

TEST(Awaited, ABatchIsLeftWhereItIs) {
  LoaderOptions options{.batch = 5, .threads = 1, .order = OrderKind::kNone};
  options.bad_sample = BadSlotPolicy::kFail;
  Loader loader(memory_dataset({.bad = {12}}).dataset, small_recipe(), options);
  constexpr std::chrono::milliseconds kLong{60'000};
  loader.start_epoch(3);
  for (int batch = 0; batch < 2; ++batch) {
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(loader.wait_within(kLong));
      EXPECT_EQ(loader.position(), (LoaderPosition{3, batch}));
      EXPECT_EQ(loader.metrics()[Metric::kBatches], batch);
    }
    EXPECT_EQ(loader.next()->index, batch);
  }
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(loader.wait_within(kLong)) << "so is its error";
    EXPECT_EQ(loader.position(), (LoaderPosition{3, 2}));
  }
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kBadSample);
  EXPECT_EQ(loader.bad_samples().size(), 1U);
  loader.start_requests();
  EXPECT_FALSE(loader.wait_within(std::chrono::milliseconds(1))) << "nothing is requested";
}

TEST(Requested, WhatThereIsNotIsRefused) {
  Loader loader(memory_dataset().dataset, small_recipe(), {.batch = 5, .threads = 1, .epochs_end = 2});
  EXPECT_THAT(error_of([&] { loader.request({0, 0}); }).message(), HasSubstr("runs an epoch"));
  loader.check_request({1, 9});
  EXPECT_THAT(error_of([&] { loader.check_request({0, 10}); }).message(), HasSubstr("there is no batch"));
  loader.start_requests();
  for (const LoaderPosition& none : {LoaderPosition{0, 10}, {0, -1}, {2, 0}, {-1, 0}}) {
    EXPECT_THAT(error_of([&] { loader.request(none); }).message(), HasSubstr("there is no batch"));
  }
  loader.request({1, 9});
  EXPECT_EQ(loader.next()->index, 9);
}

TEST(Requested, AnErrorLastsUntilRequestsStartAnew) {
  LoaderOptions options{.batch = 5, .threads = 2, .order = OrderKind::kNone};
  options.bad_sample = BadSlotPolicy::kFail;
  Loader loader(memory_dataset({.bad = {12}}).dataset, small_recipe(), options);
  loader.start_requests();
  for (const int batch : {1, 2, 3}) loader.request({0, batch});
  EXPECT_EQ(loader.next()->index, 1);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(error_of([&] { loader.next(); }).message(), HasSubstr("sample12"));
  }
  loader.start_requests();
  loader.request({0, 4});
  EXPECT_EQ(loader.next()->index, 4);
}

TEST(Requested, AWaitingConsumerIsInterrupted) {
  Loader loader(memory_dataset().dataset, small_recipe(), {.batch = 5, .threads = 1});
  loader.start_requests();
  std::thread other([&] { loader.interrupt(); });
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  other.join();
  EXPECT_EQ(error_of([&] { loader.request({0, 0}); }).kind(), ErrorKind::kClosed);
}

}  // namespace
}  // namespace stoker
