#include "stoker/runtime/samples/sample_needs.h"

#include <gtest/gtest.h>

#include "stoker/codec/decode_memory.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

Plan whole_images() { return Plan(Recipe().decode().resize(8, 8)); }

TEST(SampleNeeds, AreThoseOfTheLargestSample) {
  const MemoryDataset data = memory_dataset({.samples = 7, .width = 400, .height = 300});
  std::uint64_t longest = 0;
  for (int i = 0; i < 7; ++i) longest = std::max(longest, data.dataset->row(i).image_field()->length);
  const SampleNeeds needs = largest_needs(*data.dataset, whole_images(), {});
  EXPECT_EQ(needs.sample_bytes, longest);
  const ImageFacts largest{.codec = Codec::kJpeg, .width = 404, .height = 301, .components = 3};
  EXPECT_GT(needs.decode_bytes, std::uint64_t{404} * 300);
  EXPECT_LT(needs.decode_bytes, 3 * decode_rgb_memory(largest, longest, {0, 0, 404, 301}));
}

TEST(SampleNeeds, OfRandomCropsAreThoseOfTheWholeImage) {
  const MemoryDataset data = memory_dataset({.samples = 3, .width = 400, .height = 300});
  const SampleNeeds random = largest_needs(*data.dataset, Plan(small_recipe()), {});
  EXPECT_GE(random.decode_bytes, largest_needs(*data.dataset, whole_images(), {}).decode_bytes);
  const Plan corner(Recipe().decode().center_crop(16));
  EXPECT_LT(largest_needs(*data.dataset, corner, {}).decode_bytes, random.decode_bytes);
}

TEST(SampleNeeds, LeaveOutBadSamplesAndThoseAboveTheLimit) {
  const MemoryDataset data = memory_dataset({.samples = 3, .bad = {0, 1}});
  EXPECT_GT(largest_needs(*data.dataset, whole_images(), {}).decode_bytes, 0u);
  EXPECT_EQ(largest_needs(*data.dataset, whole_images(), DecodeLimits::up_to(100)).decode_bytes, 0u);
}

}  // namespace
}  // namespace stoker
