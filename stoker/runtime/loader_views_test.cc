// Loaders of recipes whose views share the images that are decoded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/device/device_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using Lines = std::vector<std::string>;

// Two large crops, and four small ones, some of which lie apart from the others.
Recipe crops() {
  Recipe recipe;
  for (const char* name : {"image", "other"}) {
    recipe.view(name).decode().random_resized_crop(32, {0.2, 1}).random_flip().normalize("imagenet");
  }
  for (const char* name : {"local_0", "local_1", "local_2", "local_3"}) {
    recipe.view(name).decode().random_resized_crop(12, {0.01, 0.05}).random_flip();
  }
  return recipe;
}

MemoryDataset photographs() { return memory_dataset({.width = 200, .height = 150, .bad = {7, 30}, .indexed = true}); }

Lines audit_with(const MemoryDataset& data, const LoaderOptions& options) {
  Loader loader(data.dataset, crops(), options);
  return audit_of(loader, 2);
}

TEST(LoaderViews, AreTheSameForAnyThreadsAndAtEveryTransferIndex) {
  const MemoryDataset data = photographs();
  const Lines want = audit_with(data, {.batch = 7, .seed = 3, .threads = 1});
  ASSERT_GE(want.size(), 2 * 42u);
  EXPECT_EQ(audit_with(data, {.batch = 7, .seed = 3, .threads = 4, .prefetch = 5}), want);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    EXPECT_EQ(
        audit_with(
            data,
            {.batch = 7, .seed = 3, .threads = 2, .device = open_device(test_device_name()), .transfer_index = index}),
        want)
        << "transfer index " << index;
  }
}

TEST(LoaderViews, AreTheSameOnAnyNumberOfRanks) {
  const MemoryDataset data = photographs();
  Lines want = audit_with(data, {.global_batch = 12, .tail = Tail::kPad}), got;
  for (int rank = 0; rank < 3; ++rank) {
    const Lines lines = audit_with(data, {.global_batch = 12, .rank = rank, .world = 3, .tail = Tail::kPad});
    got.insert(got.end(), lines.begin(), lines.end());
  }
  std::sort(want.begin(), want.end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, want);
}

TEST(LoaderViews, GoOnFromAState) {
  const MemoryDataset data = photographs();
  const LoaderOptions options{.batch = 7, .seed = 3, .threads = 2, .epochs_end = 2};
  const Lines want = audit_with(data, options);
  Loader first(data.dataset, crops(), options), second(data.dataset, crops(), options);
  Lines got;
  const auto take = [&](Loader& loader) {
    const BatchPtr batch = loader.next();
    if (!batch) return false;
    const Lines lines = audit_of(*batch);
    got.insert(got.end(), lines.begin(), lines.end());
    return true;
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(take(first));
  second.load_state(first.state());
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (take(second)) {
    }
  }
  EXPECT_EQ(got, want);
}

TEST(LoaderViews, ShareDecodes) {
  const MemoryDataset data = memory_dataset({.width = 200, .height = 150, .indexed = true});
  Recipe recipe;
  for (const char* name : {"image", "second", "third"}) recipe.view(name).decode().random_resized_crop(32, {0.8, 1});
  Loader loader(data.dataset, recipe, {.batch = 10, .threads = 2, .epochs_end = 1});
  EXPECT_EQ(audit_of(loader, 1).size(), 50u);
  EXPECT_EQ(loader.metrics()[Metric::kEntryPointsUsed], 50);
}

}  // namespace
}  // namespace stoker
