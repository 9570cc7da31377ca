#include "stoker/format/npy/npy_sets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::ElementsAre;

constexpr bool kImages = true;

/// "first: array array ..." of each set.
std::vector<std::string> set_listing(const std::vector<NpySetArray>& arrays) {
  std::vector<std::string> lines;
  for (const NpySet& set : npy_sets(arrays)) {
    std::string line = fmt::format("{}:", arrays[set.first].name);
    for (const std::size_t one : set.arrays) line += fmt::format(" {}", arrays[one].name);
    lines.push_back(line);
  }
  return lines;
}

TEST(NpySets, AreArraysOfOneLength) {
  EXPECT_THAT(set_listing({{"x_test", 10, kImages}, {"x_train", 60, kImages}, {"y_test", 10}, {"y_train", 60}}),
              ElementsAre("x_test: x_test y_test", "x_train: x_train y_train"));
  EXPECT_THAT(set_listing({{"a", 3}, {"b", 2}, {"c", 3}}), ElementsAre("a: a c", "b: b"));
}

TEST(NpySets, AreToldApartByTheirWordsWhereLengthsAreTheSame) {
  EXPECT_THAT(set_listing({{"test_images", 5, kImages},
                           {"test_labels", 5},
                           {"train_images", 9, kImages},
                           {"train_labels", 9},
                           {"val_images", 5, kImages},
                           {"val_labels", 5}}),
              ElementsAre("test_images: test_images test_labels", "train_images: train_images train_labels",
                          "val_images: val_images val_labels"));
  EXPECT_THAT(set_listing({{"X_val", 5, kImages}, {"X_test", 5, kImages}, {"ids", 5}, {"X", 9, kImages}}),
              ElementsAre("X_val: X_val ids", "X_test: X_test ids", "X: X"))
      << "what names no set belongs to all of its length";
}

TEST(NpySets, KeepImagesThatBelongToOthersWithThem) {
  EXPECT_THAT(set_listing({{"train_images", 9, kImages}, {"train_masks", 9, kImages}, {"test_images", 5, kImages}}),
              ElementsAre("train_images: train_images train_masks", "test_images: test_images"));
  EXPECT_THAT(set_listing({{"image", 9, kImages}, {"img", 9, kImages}, {"other", 5}}),
              ElementsAre("image: image img", "other: other"));
}

}  // namespace
}  // namespace stoker
