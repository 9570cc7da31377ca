// How the loader reads: neighbours together, the same batches whatever it merges, and one bad place hurts one sample.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "stoker/base/allocations_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

/// Counts the reads of another source, and fails those that touch one of its bytes.
class WatchedSource final : public Source {
 public:
  WatchedSource(std::shared_ptr<Source> inner, std::uint64_t bad_byte, ErrorKind kind)
      : inner_(std::move(inner)), bad_byte_(bad_byte), kind_(kind) {}

  const std::string& name() const override { return inner_->name(); }
  std::uint64_t size(std::string_view part) const override { return inner_->size(part); }
  void start(ReadRequest& request) override {
    ++reads;
    if (bad_byte_ < request.offset || bad_byte_ >= request.offset + request.length()) return inner_->start(request);
    ++failed;
    request.error = std::make_exception_ptr(Error(kind_, "a bad place"));
    request.done(request);
  }

  std::atomic<int> reads = 0, failed = 0;

 private:
  std::shared_ptr<Source> inner_;
  std::uint64_t bad_byte_;
  ErrorKind kind_;
};

struct WatchedDataset {
  std::shared_ptr<WatchedSource> source;
  std::shared_ptr<const Dataset> dataset;
};

/// A bad sample is one whose second byte cannot be read; -1: none.
WatchedDataset watched(const MemoryDataset& data, int bad_sample = -1, ErrorKind kind = ErrorKind::kIo) {
  SampleTable table;
  std::uint64_t bad_byte = ~std::uint64_t{0};
  for (std::int64_t i = 0; i < data.dataset->size(); ++i) {
    const SampleRow row = data.dataset->row(i);
    table.add_sample(row.key, row.label);
    table.add_field(row.fields[0].name, "", row.fields[0].offset, row.fields[0].length);
    if (i == bad_sample) bad_byte = row.fields[0].offset + 1;
  }
  WatchedDataset result;
  result.source = std::make_shared<WatchedSource>(data.source, bad_byte, kind);
  result.dataset = std::make_shared<ShardedDataset>(result.source, std::move(table), std::vector<std::string>{});
  return result;
}

constexpr int kSamples = 300;

MemoryDataset neighbours(std::size_t gap = 700) {
  return memory_dataset({.samples = kSamples, .tiny = true, .gap = gap});
}

TEST(LoaderReads, NeighboursTogether) {
  const WatchedDataset data = watched(neighbours());
  Loader loader(data.dataset, small_recipe(), {.batch = 100, .order = OrderKind::kNone, .epochs_end = 1});
  EXPECT_EQ(audit_of(loader, 1).size(), std::size_t{kSamples});
  EXPECT_LT(data.source->reads, 10);
  const Metrics metrics = loader.metrics();
  const auto wanted = static_cast<std::int64_t>(data.dataset->bytes());
  EXPECT_EQ(metrics[Metric::kBytesRead], wanted);
  EXPECT_EQ(metrics[Metric::kBytesFetched], wanted + 700 * (kSamples - data.source->reads));
}

TEST(LoaderReads, SamplesFarApartEachByItself) {
  const WatchedDataset data = watched(neighbours(20'000));
  Loader loader(data.dataset, small_recipe(), {.batch = 100, .order = OrderKind::kNone, .epochs_end = 1});
  EXPECT_EQ(audit_of(loader, 1).size(), std::size_t{kSamples});
  EXPECT_EQ(data.source->reads, kSamples);
  EXPECT_EQ(loader.metrics()[Metric::kBytesFetched], loader.metrics()[Metric::kBytesRead]);
}

TEST(LoaderReads, WindowsTogetherThatAreLongerThanTheBatchesMadeAhead) {
  const WatchedDataset data = watched(memory_dataset({.samples = 4000, .tiny = true, .gap = 3'000}));
  Loader loader(data.dataset, small_recipe(),
                {.batch = 10, .prefetch = 1, .order = OrderKind::kWindowed, .window = 200, .lanes = 2});
  EXPECT_EQ(audit_of(loader, 1).size(), 4000u);
  EXPECT_LT(data.source->reads, 1000) << "20 tickets are drawn for batches with memory, of 400 in the windows";
}

TEST(LoaderReads, TheSameBatchesWhateverIsMerged) {
  const MemoryDataset apart = neighbours(20'000), near = neighbours();
  for (const OrderKind order : {OrderKind::kNone, OrderKind::kGlobal, OrderKind::kWindowed}) {
    LoaderOptions options{.batch = 10, .seed = 3, .threads = 1, .prefetch = 1, .order = order};
    if (order == OrderKind::kWindowed) options.window = 50, options.lanes = 2;
    Loader reference(apart.dataset, small_recipe(), options);
    const auto want = audit_of(reference, 2);
    for (const int threads : {1, 3}) {
      for (const int prefetch : {1, 4}) {
        options.threads = threads;
        options.prefetch = prefetch;
        Loader loader(near.dataset, small_recipe(), options);
        EXPECT_EQ(audit_of(loader, 2), want) << to_string(order) << ", " << threads << " threads, " << prefetch;
      }
    }
  }
}

TEST(LoaderReads, TheSameBatchesInTheLeastMemory) {
  const MemoryDataset data = memory_dataset({.samples = 60, .width = 300, .height = 300, .gap = 10});
  LoaderOptions options{.batch = 5, .prefetch = 1, .order = OrderKind::kWindowed, .window = 20, .lanes = 1};
  Loader reference(data.dataset, small_recipe(), options);
  options.memory = memory_bytes_min(*data.dataset, small_recipe(), options);
  EXPECT_GT(data.dataset->bytes(), std::uint64_t{2} << 20) << "the read-ahead's megabyte holds a part of a window";
  Loader loader(data.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(loader, 2), audit_of(reference, 2));
}

TEST(LoaderReads, TheSameBatchesThroughFaults) {
  const MemoryDataset plain = neighbours();
  const LoaderOptions options{
      .batch = 10, .threads = 3, .order = OrderKind::kWindowed, .window = 50, .lanes = 2, .epochs_end = 2};
  Loader reference(plain.dataset, small_recipe(), options);
  const auto want = audit_of(reference, 2);
  int whole = 0;
  for (int seed = 0; seed < rounds(10); ++seed) {
    const MemoryDataset data = memory_dataset({.samples = kSamples,
                                               .faults = {.fail_probability = 0.1, .seed = static_cast<unsigned>(seed)},
                                               .tiny = true,
                                               .gap = 700});
    Loader loader(data.dataset, small_recipe(), options);
    try {
      EXPECT_EQ(audit_of(loader, 2), want);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
    }
  }
  EXPECT_GT(whole, 0);
}

TEST(LoaderReads, OneBadPlaceHurtsOneSample) {
  const MemoryDataset plain = neighbours();
  for (const ErrorKind kind : {ErrorKind::kIo, ErrorKind::kData}) {
    const WatchedDataset data = watched(plain, 57, kind);
    Loader loader(data.dataset, small_recipe(), {.batch = 10, .threads = 2, .order = OrderKind::kNone});
    loader.start_epoch(0);
    for (int batch = 0; batch < 5; ++batch) EXPECT_EQ(loader.next()->valid_count(), 10);
    const Error error = error_of([&] { loader.next(); });
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr("sample57"));
    EXPECT_GE(data.source->failed, 2) << "with its neighbours, and by itself";
  }
}

TEST(LoaderReads, GoOnAfterAnEpochWasLeft) {
  const MemoryDataset data = neighbours();
  const LoaderOptions options{
      .batch = 10, .threads = 2, .prefetch = 1, .order = OrderKind::kWindowed, .window = 100, .lanes = 2};
  for (int repeat = 0; repeat < rounds(20); ++repeat) {
    Loader loader(data.dataset, small_recipe(), options);
    for (int epoch = 0; epoch < 6; ++epoch) {
      loader.start_epoch(epoch * 2);
      for (int batch = 0; batch < epoch; ++batch) EXPECT_EQ(loader.next()->epoch, epoch * 2);
    }
  }
}

std::string shard_of(int number, int samples) {
  std::string bytes;
  for (int i = 0; i < samples; ++i) {
    const std::vector<std::uint8_t> image = noisy_jpeg(20 + i % 5, 20, static_cast<std::uint64_t>(number * 1000 + i));
    bytes += tar_member(fmt::format("{}-{:03}.jpg", number, i), std::string(image.begin(), image.end()));
  }
  return bytes + tar_end();
}

TEST(LoaderReads, TheSameBatchesByIoUringAndPreadAndDirectly) {
  const TempFolder folder;
  for (int shard = 0; shard < 3; ++shard) folder.write(fmt::format("{}.tar", shard), shard_of(shard, 60));
  std::vector<std::string> want;
  for (const IoKind io : {IoKind::kPread, IoKind::kAuto}) {
    for (const bool direct : {false, true}) {
      for (const int threads : {1, 3}) {
        const auto dataset = open(folder.path("*.tar"), {}, {.io = io, .direct = direct});
        Loader loader(dataset, small_recipe(),
                      {.batch = 20, .threads = threads, .order = OrderKind::kWindowed, .window = 30, .lanes = 2});
        const auto got = audit_of(loader, 2);
        if (want.empty()) want = got;
        EXPECT_EQ(got, want) << static_cast<int>(io) << (direct ? ", direct, " : ", ") << threads << " threads";
        EXPECT_GT(loader.metrics()[Metric::kBytesFetched], loader.metrics()[Metric::kBytesRead]);
      }
    }
  }
  EXPECT_EQ(want.size(), 2u * 180);
}

TEST(LoaderReads, AllocateNothingPerSample) {
  const TempFolder folder;
  folder.write("0.tar", shard_of(0, 200));
  Loader loader(open(folder.path("0.tar")), small_recipe(),
                {.batch = 20, .threads = 1, .order = OrderKind::kWindowed, .window = 40, .lanes = 2, .epochs_end = 1});
  // The leanest pass: what depends on timing, such as reads that wait for each other, makes room in any of them.
  std::int64_t fewest = INT64_MAX;
  for (int pass = 0; pass < 8; ++pass) {
    const std::int64_t before = allocations_so_far();
    for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->valid_count(), 20);
    fewest = std::min(fewest, allocations_so_far() - before);
  }
  EXPECT_LE(fewest / 10, 5);
}

}  // namespace
}  // namespace stoker
