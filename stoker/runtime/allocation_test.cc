// Our code allocates nothing per sample once it has seen the sizes there are. Counted here by replacing operator new
// for this whole test program; what codec libraries take from malloc does not count.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "stoker/plan/encoded_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"

// g++ pairs our operator delete with a library's operator new and finds that free() does not fit.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));  // the tests have memory enough
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace stoker {
namespace {

constexpr int kSamples = 60, kBatch = 10;
// Per batch: the shared pointer that delivers it, and a block of the queue now and then.
constexpr std::int64_t kPerBatchMax = 5;

class TempImages {
 public:
  explicit TempImages(bool equal_sizes)
      : folder_(std::filesystem::temp_directory_path() / fmt::format("stoker-allocations-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < kSamples; ++i) {
      const int extra = equal_sizes ? 0 : i * 7 % 50;
      const auto bytes = noisy_jpeg(60 + extra, 50 + extra / 2, equal_sizes ? 1 : static_cast<std::uint64_t>(i));
      std::ofstream(folder_ / fmt::format("{:03}.jpg", i), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
  ~TempImages() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

// Allocations of one pass over epoch 0, after several passes over the very same epoch.
std::int64_t allocations_per_batch(const std::string& folder, const Recipe& recipe, int threads) {
  Loader loader(open(folder), recipe, {.batch = kBatch, .threads = threads, .epochs_end = 1});
  std::int64_t in_pass = 0;
  for (int pass = 0; pass < 6; ++pass) {
    const std::int64_t before = allocations.load();
    for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->valid_count(), kBatch);
    in_pass = allocations.load() - before;
  }
  return in_pass / (kSamples / kBatch);
}

TEST(Allocations, AreCounted) {
  const std::int64_t before = allocations.load();
  { const std::vector<int> something(100); }
  EXPECT_EQ(allocations.load(), before + 1);
}

TEST(Allocations, DoNotHappenPerSampleOfEqualSize) {
  const TempImages images(true);
  for (const int threads : {1, 3}) {
    EXPECT_LE(allocations_per_batch(images.path(), Recipe().decode().resize(24, 24).normalize("imagenet"), threads),
              kPerBatchMax)
        << threads;
  }
}

TEST(Allocations, DoNotHappenPerSampleOfVaryingSizeAndCrop) {
  const TempImages images(false);
  EXPECT_LE(allocations_per_batch(images.path(), small_recipe(), 1), kPerBatchMax);
  EXPECT_LE(
      allocations_per_batch(
          images.path(),
          Recipe().decode("faithful", "apply").resize(30).center_crop(28).random_flip().cast("f16").layout("nhwc"), 1),
      kPerBatchMax);
}

}  // namespace
}  // namespace stoker
