#include "stoker/pack/ordered_producer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace stoker {
namespace {

std::vector<std::uint8_t> byte_of(std::int64_t index) { return {static_cast<std::uint8_t>(index)}; }

TEST(OrderedProducer, HandsProductsOutInOrder) {
  for (const int threads : {1, 2, 3, 8}) {
    OrderedProducer producer(200, threads, byte_of);
    for (std::int64_t i = 0; i < 200; ++i) ASSERT_EQ(producer.next(), byte_of(i)) << threads << " threads";
  }
}

TEST(OrderedProducer, MakesNoMoreThanAWindowAhead) {
  std::atomic<std::int64_t> delivered{0}, made{0};
  std::atomic<bool> within{true};
  OrderedProducer producer(500, 2, [&](std::int64_t index) {
    if (index > delivered + 8) within = false;  // 4 for each thread, and one that next() is about to count
    ++made;
    return byte_of(index);
  });
  for (std::int64_t i = 0; i < 500; ++i) {
    producer.next();
    delivered = i + 1;
  }
  EXPECT_TRUE(within);
  EXPECT_EQ(made, 500);
}

TEST(OrderedProducer, ThrowsWhatMakingAProductThrew) {
  OrderedProducer producer(10, 2, [](std::int64_t index) {
    if (index == 3) throw std::runtime_error("third");
    return byte_of(index);
  });
  for (int i = 0; i < 3; ++i) producer.next();
  EXPECT_THROW(producer.next(), std::runtime_error);
  EXPECT_EQ(producer.next(), byte_of(4));
}

TEST(OrderedProducer, EndsWithoutMakingTheRest) {
  std::atomic<int> made{0};
  {
    OrderedProducer producer(1'000'000, 3, [&](std::int64_t index) {
      ++made;
      return byte_of(index);
    });
    producer.next();
  }
  EXPECT_LE(made, 13);  // 4 for each thread, and the one that was taken
}

}  // namespace
}  // namespace stoker
