#include "stoker/base/words.h"

#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

enum class Fruit { kApple, kPear, kPlum };
constexpr Word<Fruit> kFruits[] = {{Fruit::kPear, "pear"}, {Fruit::kApple, "apple"}, {Fruit::kPlum, "plum"}};

TEST(Words, StandForValues) {
  EXPECT_EQ(word_of(kFruits, Fruit::kApple), "apple");
  for (const Word<Fruit>& word : kFruits) EXPECT_EQ(value_of(kFruits, word.text, "no fruit"), word.value);
}

TEST(Words, AreAllNamedWhereAnotherIsGiven) {
  const Error error = error_of([] { value_of(kFruits, "stone", "no fruit"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(), "'stone' is no fruit; use pear, apple or plum");
  constexpr Word<Fruit> kOne[] = {{Fruit::kPlum, "plum"}};
  EXPECT_STREQ(error_of([&] { value_of(kOne, "", "no plum"); }).what(), "'' is no plum; use plum");
}

}  // namespace
}  // namespace stoker
