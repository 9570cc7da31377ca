#include "stoker/pack/ordered_producer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace stoker {
namespace {

using Producer = OrderedProducer<std::int64_t, std::int64_t>;

Producer::Claim count_to(std::int64_t end) {
  return [end, next = std::int64_t{0}](const std::stop_token&) mutable {
    return next < end ? std::optional(next++) : std::nullopt;
  };
}

std::function<Producer::Make()> each(const Producer::Make& make) {
  return [make] { return make; };
}

TEST(OrderedProducer, HandsProductsOutInOrder) {
  for (const int threads : {1, 2, 3, 8}) {
    Producer producer(threads, count_to(200), each([](std::int64_t task) { return 3 * task; }));
    for (std::int64_t i = 0; i < 200; ++i) ASSERT_EQ(producer.next(), 3 * i) << threads << " threads";
    EXPECT_EQ(producer.next(), std::nullopt);
    EXPECT_EQ(producer.next(), std::nullopt);
  }
}

TEST(OrderedProducer, EndsAtOnceWithoutTasks) {
  Producer producer(3, count_to(0), each([](std::int64_t task) { return task; }));
  EXPECT_EQ(producer.next(), std::nullopt);
}

TEST(OrderedProducer, MakesNoMoreThanAWindowAhead) {
  std::atomic<std::int64_t> delivered{0}, made{0};
  std::atomic<bool> within{true};
  Producer producer(2, count_to(500), each([&](std::int64_t task) {
                      if (task > delivered + 8) within = false;  // 4 for each thread, and one that is about to count
                      ++made;
                      return task;
                    }));
  for (std::int64_t i = 0; i < 500; ++i) {
    producer.next();
    delivered = i + 1;
  }
  EXPECT_TRUE(within);
  EXPECT_EQ(made, 500);
}

TEST(OrderedProducer, GivesEachThreadItsOwnMaker) {
  std::atomic<int> makers{0};
  Producer producer(3, count_to(300), [&]() -> Producer::Make {
    ++makers;
    return [busy = false](std::int64_t task) mutable {
      EXPECT_FALSE(std::exchange(busy, true));
      busy = false;
      return task;
    };
  });
  while (producer.next()) {
  }
  EXPECT_GE(makers, 1);
  EXPECT_LE(makers, 3);
}

TEST(OrderedProducer, ThrowsWhatMakingAProductThrew) {
  Producer producer(2, count_to(10), each([](std::int64_t task) {
                      if (task == 3) throw std::runtime_error("third");
                      return task;
                    }));
  for (int i = 0; i < 3; ++i) producer.next();
  EXPECT_THROW(producer.next(), std::runtime_error);
  EXPECT_EQ(producer.next(), 4);
}

TEST(OrderedProducer, ThrowsWhatClaimingATaskThrewAfterTheProductsBefore) {
  for (const int threads : {1, 4}) {
    Producer producer(
        threads,
        [next = std::int64_t{0}](const std::stop_token&) mutable -> std::optional<std::int64_t> {
          if (next == 5) throw std::runtime_error("no sixth");
          return next++;
        },
        each([](std::int64_t task) { return task; }));
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(producer.next(), i);
    EXPECT_THROW(producer.next(), std::runtime_error);
    EXPECT_EQ(producer.next(), std::nullopt);
  }
}

TEST(OrderedProducer, EndsWithoutMakingTheRest) {
  std::atomic<int> made{0};
  {
    Producer producer(3, count_to(1'000'000), each([&](std::int64_t task) {
                        ++made;
                        return task;
                      }));
    producer.next();
  }
  EXPECT_LE(made, 13);  // 4 for each thread, and the one that was taken
}

}  // namespace
}  // namespace stoker
