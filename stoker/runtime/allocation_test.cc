// Our code allocates nothing per sample once it has seen the sizes there are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/allocations_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr int kSamples = 60, kBatch = 10;
// Per batch: the shared pointer that delivers it, and a block of the queue now and then.
constexpr std::int64_t kPerBatchMax = 5;

void write_images(const TempFolder& folder, bool equal_sizes) {
  for (int i = 0; i < kSamples; ++i) {
    const int extra = equal_sizes ? 0 : i * 7 % 50;
    folder.write(fmt::format("{:03}.jpg", i),
                 noisy_jpeg(60 + extra, 50 + extra / 2, equal_sizes ? 1 : static_cast<std::uint64_t>(i)));
  }
}

// The fewest allocations of a pass over epoch 0, in several over the very same epoch: a worker that is late takes its
// memory in a later pass.
std::int64_t allocations_per_batch(const std::string& folder, const Recipe& recipe, int threads) {
  Loader loader(open(folder), recipe, {.batch = kBatch, .threads = threads, .epochs_end = 1});
  std::int64_t fewest = INT64_MAX;
  for (int pass = 0; pass < 6; ++pass) {
    const std::int64_t before = allocations_so_far();
    for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->valid_count(), kBatch);
    fewest = std::min(fewest, allocations_so_far() - before);
  }
  return fewest / (kSamples / kBatch);
}

TEST(Allocations, DoNotHappenPerSampleOfEqualSize) {
  const TempFolder images;
  write_images(images, true);
  for (const int threads : {1, 3}) {
    EXPECT_LE(allocations_per_batch(images.path(), Recipe().decode().resize(24, 24).normalize("imagenet"), threads),
              kPerBatchMax)
        << threads;
  }
}

TEST(Allocations, DoNotHappenPerSampleOfVaryingSizeAndCrop) {
  const TempFolder images;
  write_images(images, false);
  EXPECT_LE(allocations_per_batch(images.path(), small_recipe(), 1), kPerBatchMax);
  EXPECT_LE(
      allocations_per_batch(
          images.path(),
          Recipe().decode("faithful", "apply").resize(30).center_crop(28).random_flip().cast("f16").layout("nhwc"), 1),
      kPerBatchMax);
}

}  // namespace
}  // namespace stoker
