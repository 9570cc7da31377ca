#include "stoker/runtime/probe/read_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSampleBytes = 4000, kStride = 5000;

/// Samples of 4,000 bytes, each a thousand after the one before it.
SampleLayout layout_of(std::uint64_t gap_worth_reading) {
  SampleLayout layout;
  layout.gap_worth_reading = gap_worth_reading;
  for (std::uint64_t i = 0; i < 16; ++i) {
    layout.samples.push_back({.ranges = {{i * kStride, kSampleBytes, false}}, .bytes = 4096});
  }
  layout.span = 16 * kStride;
  return layout;
}

/// A loader of 100,000 samples in ten shards.
BoardOptions board_of(OrderKind kind) {
  BoardOptions board;
  board.order = {.samples = 100'000, .global_batch = 64, .kind = kind, .tail = Tail::kWrap};
  board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(10, 10'000);
  board.slice = {.rank = 0, .world = 1, .batch = 64};
  board.tickets.tickets_ahead = 1 + 5 * board.order.lanes * board.order.window / 4;
  board.read_ahead.bytes = static_cast<std::size_t>(board.tickets.tickets_ahead) * 4096;
  board.read_ahead.near_bytes = board.read_ahead.bytes / 5;
  return board;
}

TEST(ReadForecast, ReadsTheDataSetsOwnOrderInMegabytes) {
  const ReadForecast forecast = forecast_reads(layout_of(8 << 10), board_of(OrderKind::kNone));
  EXPECT_NEAR(forecast.bytes, kStride, 0.02 * kStride) << "with what lies between";
  // A request has 256 pieces at most: 128 samples and what lies between them.
  EXPECT_NEAR(forecast.requests, 1.0 / 128, 0.1 / 128);
}

TEST(ReadForecast, ReadsAWindowTogether) {
  const ReadForecast forecast = forecast_reads(layout_of(8 << 10), board_of(OrderKind::kWindowed));
  EXPECT_NEAR(forecast.bytes, kStride, 0.1 * kStride);
  EXPECT_LT(forecast.requests, 1.0 / 8);
}

TEST(ReadForecast, ReadsSamplesOfTheGlobalOrderOneByOneButForNeighbours) {
  const ReadForecast forecast = forecast_reads(layout_of(8 << 10), board_of(OrderKind::kGlobal));
  EXPECT_GT(forecast.requests, 0.7);
  EXPECT_LE(forecast.requests, 1);
  EXPECT_GE(forecast.bytes, kSampleBytes);
}

TEST(ReadForecast, ReadsNoGapThatIsNotWorthIt) {
  for (const OrderKind kind : {OrderKind::kNone, OrderKind::kGlobal}) {
    const ReadForecast forecast = forecast_reads(layout_of(999), board_of(kind));
    EXPECT_NEAR(forecast.requests, 1, 0.02);
    EXPECT_NEAR(forecast.bytes, kSampleBytes, 0.02 * kSampleBytes);
  }
}

TEST(ReadForecast, ReadsWholeUnits) {
  SampleLayout layout = layout_of(0);
  layout.unit = 512;
  layout.span = 16 * 5120;
  for (std::uint64_t i = 0; i < 16; ++i) layout.samples[i].ranges = {{i * 5120, 2500, false}};
  EXPECT_NEAR(forecast_reads(layout, board_of(OrderKind::kGlobal)).bytes, 2560, 26);
  for (SampleLayout::Sample& sample : layout.samples) sample.ranges[0].begin += 100;
  EXPECT_NEAR(forecast_reads(layout, board_of(OrderKind::kGlobal)).bytes, 3072, 31) << "the first and the last in part";
}

TEST(ReadForecast, ReadsLooseFilesOneByOne) {
  SampleLayout layout = layout_of(8 << 10);
  layout.loose = true;
  EXPECT_NEAR(forecast_reads(layout, board_of(OrderKind::kNone)).requests, 1, 0.02);
}

TEST(ReadForecast, TellsEntryPointsFromSamples) {
  SampleLayout layout = layout_of(999);
  for (std::uint64_t i = 0; i < 16; ++i) layout.samples[i].ranges.push_back({i * 2000, 100, true});
  layout.span_apart = 16 * 2000;
  const ReadForecast forecast = forecast_reads(layout, board_of(OrderKind::kGlobal));
  EXPECT_NEAR(forecast.requests_apart, 1, 0.02);
  EXPECT_NEAR(forecast.bytes_apart, 100, 2);
  EXPECT_NEAR(forecast.requests - forecast.requests_apart, 1, 0.02);
  EXPECT_NEAR(forecast.bytes - forecast.bytes_apart, kSampleBytes, 0.02 * kSampleBytes);
}

TEST(ReadForecast, ReadsNoEntryPointsThatAreKept) {
  SampleLayout layout = layout_of(999);
  for (std::uint64_t i = 0; i < 16; ++i) layout.samples[i].ranges.push_back({i * 2000, 100, true});
  layout.span_apart = 16 * 2000;
  BoardOptions board = board_of(OrderKind::kGlobal);
  const std::uint64_t all = 2000 * static_cast<std::uint64_t>(board.order.samples);
  board.entry_points_bytes = 2 * all;
  EXPECT_EQ(forecast_reads(layout, board).requests_apart, 0);
  EXPECT_NEAR(forecast_reads(layout, board).requests, 1, 0.02);
  board.entry_points_bytes = all / 4;
  EXPECT_NEAR(forecast_reads(layout, board).requests_apart, 0.75, 0.05);
}

TEST(ReadForecast, HasRoomForFewerRequestsTheLessMayBeDrawnAhead) {
  BoardOptions board = board_of(OrderKind::kGlobal);
  const double ahead = forecast_reads(layout_of(999), board).requests_ahead;
  // What is wanted soon, but for the last quarter of it: for that the reader waits until it is worth planning.
  EXPECT_NEAR(ahead, 0.75 * static_cast<double>(board.tickets.tickets_ahead) / 5, 0.05 * ahead);
  board.tickets.tickets_ahead = 0;
  board.tickets.prefetch = 1;
  board.slice.batch = 16;
  board.order.global_batch = 16;
  EXPECT_LE(forecast_reads(layout_of(999), board).requests_ahead, 33) << "two batches";
}

TEST(ReadForecast, HasNoMoreRequestsUnderWayThanAreAnsweredAtOnce) {
  const BoardOptions board = board_of(OrderKind::kGlobal);
  const ReadForecast free = forecast_reads(layout_of(999), board), limited = forecast_reads(layout_of(999), board, 100);
  EXPECT_GT(free.requests_ahead, 1000);
  EXPECT_NEAR(limited.requests_ahead, 100, 1);
  EXPECT_NEAR(limited.requests, free.requests, 0.02);
}

// The first windows of an epoch are read sample by sample.
TEST(ReadForecast, CountsAShortEpochWithItsBeginning) {
  BoardOptions board = board_of(OrderKind::kWindowed);
  const double of_long = forecast_reads(layout_of(8 << 10), board).requests;
  board.order.samples = 20'000;
  board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(10, 2'000);
  SampleLayout layout = layout_of(8 << 10);
  EXPECT_GT(forecast_reads(layout, board).requests, 2 * of_long);
  layout.remote = false;  // nearby, windows are read together from the beginning
  EXPECT_LT(forecast_reads(layout, board).requests, 1.2 * of_long);
}

TEST(ReadForecast, LaysOutTheSamplesThatARecipeReads) {
  const MemoryDataset data = memory_dataset({.indexed = true, .gap = 100});
  const Plan plan(small_recipe());
  BoardOptions board;
  board.locator.fields = plan.fields();
  board.locator.images = {true};
  const SampleLayout layout = lay_out(*data.dataset, board, {0, 25}, 10);
  ASSERT_EQ(layout.samples.size(), 20u);
  EXPECT_FALSE(layout.loose);
  EXPECT_EQ(layout.gap_worth_reading, data.source->gap_worth_reading());
  EXPECT_EQ(layout.unit, data.source->alignment());
  std::uint64_t end = 0;
  for (const SampleLayout::Sample& sample : layout.samples) {
    ASSERT_EQ(sample.ranges.size(), 2u) << "an image and its entry points";
    EXPECT_FALSE(sample.ranges[0].apart);
    EXPECT_TRUE(sample.ranges[1].apart);
    EXPECT_GE(sample.ranges[0].begin, end);
    end = sample.ranges[0].begin + sample.ranges[0].length;
  }
  EXPECT_GE(layout.span, end);
  board.locator.fields = {"none"};
  const Error error = error_of([&] { lay_out(*data.dataset, board, {0}, 9); });
  EXPECT_THAT(error.what(), HasSubstr("can be read"));
}

}  // namespace
}  // namespace stoker
