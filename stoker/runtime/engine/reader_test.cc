// How many reads the reader has under way, by how far away the samples are. No worker gives memory back.
#include "stoker/runtime/engine/reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/watchdog_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

// What the reader keeps under way in a distant store.
constexpr std::size_t kReadsFew = 64;

constexpr std::int64_t kSamples = 400;

class SilentMeter final : public TrafficMeter {
 public:
  StoreTraffic traffic() const override { return {}; }
};

constexpr std::size_t kWideGap = 20'000;  // more than is worth reading

/// A reader in the first epoch of a data set whose reads do not end before they are told to.
class HeldReader {
 public:
  /// In the least memory, of samples that lie apart.
  HeldReader(std::size_t sample_bytes, bool is_far) : HeldReader(sample_bytes, kWideGap, is_far, {}, 0) {}
  HeldReader(std::size_t sample_bytes, std::size_t gap, bool is_far, LoaderOptions options, std::size_t more_memory)
      : sample_bytes_(sample_bytes) {
    SampleTable table;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      table.add_sample("sample", 0);
      table.add_field("jpg", "", static_cast<std::uint64_t>(i) * (sample_bytes + gap), sample_bytes);
    }
    std::vector<std::uint8_t> bytes(kSamples * (sample_bytes + gap));
    source_ = std::make_shared<FaultySource>(std::make_shared<MemorySource>("memory.tar", std::move(bytes)),
                                             FaultyOptions{.hold = true});
    std::vector<std::unique_ptr<DataShard>> shards;
    shards.push_back(
        std::make_unique<DataShard>(OpenedShard{source_, std::make_shared<const SampleTable>(std::move(table))}));
    const auto data =
        std::make_shared<ShardedDataset>(std::move(shards), std::vector<std::string>{"jpg"}, std::vector<std::string>{},
                                         is_far ? TrafficMeters{std::make_shared<SilentMeter>()} : TrafficMeters{});
    options.batch = kSamples / 4;
    options.threads = 1;
    options.prefetch = 1;
    options.memory = memory_bytes_min(*data, small_recipe(), options) + more_memory;
    core_.emplace(data, small_recipe(), resolve_options(*data, small_recipe(), options));
    reader_.emplace(*core_, 1);
    core_->board.tickets.start_epoch(0, 0);
    reader_->epoch_started();
    reader_->start();
  }
  ~HeldReader() {
    {
      const std::lock_guard lock(core_->mutex);
      core_->closing = true;
      core_->reader_wakes.notify_all();
    }
    source_->release_all();
    reader_->join();
  }

  /// How many there are once it has nothing more to do.
  std::size_t reads_under_way() {
    for (;;) {
      {
        const std::lock_guard lock(core_->mutex);
        if (core_->reader_waits) return core_->reads_in_flight;
      }
      std::this_thread::yield();
    }
  }
  std::size_t reads_waiting() {
    const std::lock_guard lock(core_->mutex);
    return core_->reads_waiting;
  }
  void end_a_read() { source_->release(0); }

  /// How many samples are read at once, without waiting for neighbours to be drawn; and how many memory has room for.
  std::size_t near() {
    const std::lock_guard lock(core_->mutex);
    return (core_->board.read_ahead.near_bytes() + each() - 1) / each();
  }
  std::size_t all() const { return core_->board.read_ahead.capacity() / each(); }

 private:
  std::size_t each() const { return EncodedArena::in_units(sample_bytes_); }

  const std::size_t sample_bytes_;
  std::shared_ptr<FaultySource> source_;
  std::optional<EngineCore> core_;
  std::optional<Reader> reader_;
};

TEST(Reader, HasWhatIsWantedSoonUnderWayInStorageAtHand) {
  const Watchdog watchdog;
  HeldReader reader(10'000, false);
  EXPECT_EQ(reader.reads_under_way(), reader.near());
  reader.end_a_read();
  EXPECT_EQ(reader.reads_under_way(), reader.near() - 1) << "the others wait for neighbours";
}

TEST(Reader, KeepsADistantStoreBusy) {
  const Watchdog watchdog;
  HeldReader reader(10'000, true);
  ASSERT_LT(reader.near(), kReadsFew);
  ASSERT_GT(reader.all(), kReadsFew + reader.near() / 4);
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(reader.reads_under_way(), kReadsFew);
    EXPECT_LT(reader.reads_under_way(), kReadsFew + reader.near() / 4) << "the others wait for neighbours";
    reader.end_a_read();
  }
}

TEST(Reader, HasNoMoreUnderWayThanThereIsMemoryFor) {
  const Watchdog watchdog;
  HeldReader reader(20'000, true);
  ASSERT_LT(reader.all(), kReadsFew);
  EXPECT_EQ(reader.reads_under_way(), reader.all());
}

TEST(Reader, HasNoMoreUnderWayInADistantStoreThanIsWantedSoonIfThatIsMuch) {
  const Watchdog watchdog;
  HeldReader reader(3'000, true);
  ASSERT_GT(reader.near(), kReadsFew);
  EXPECT_EQ(reader.reads_under_way(), reader.near());
}

TEST(Reader, LetsSamplesWaitForTheirNeighboursWhileStorageIsBusy) {
  const Watchdog watchdog;
  constexpr std::size_t kDepth = 8;
  LoaderOptions options;
  options.order = OrderKind::kWindowed;
  options.window = kSamples;
  options.lanes = 1;
  options.io_depth = kDepth;
  HeldReader reader(3'000, 5'000, false, options, 8 << 20);
  ASSERT_EQ(reader.reads_under_way(), kDepth);
  const std::size_t first = kDepth + reader.reads_waiting();
  std::size_t reads = 0;
  for (; reader.reads_under_way() > 0; ++reads) reader.end_a_read();
  EXPECT_LT(first, 64U) << "only of what was drawn before storage was busy";
  EXPECT_LT(reads, first + 15) << "all others lie close together";
}

}  // namespace
}  // namespace stoker
