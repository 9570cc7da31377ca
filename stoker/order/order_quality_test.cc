// Tests whether an epoch can be distinguished from a uniformly drawn one. Each figure is given in standard deviations
// of uniform drawing; more than five have odds of one in a million.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/order/epoch_order.h"
#include "stoker/order/permutation.h"

namespace stoker {
namespace {

constexpr double kDeviations = 5;
// Neither a power of two nor just below one.
constexpr std::int64_t kClasses = 50, kClassSamples = 1234, kSamples = kClasses * kClassSamples, kBatch = 100;

std::vector<std::int64_t> epoch_of(const OrderOptions& options, std::int64_t epoch) {
  const EpochOrder order(options, epoch);
  std::vector<std::int64_t> samples;
  for (std::int64_t position = 0; position < options.samples; ++position) {
    samples.push_back(*order.sample_at(position));
  }
  return samples;
}

OrderOptions sorted_by_class(OrderKind kind) {
  OrderOptions options{.samples = kSamples, .global_batch = kBatch, .seed = 3};
  options.kind = kind;
  options.window = 500;
  options.lanes = 10;
  options.shard_samples = std::make_shared<const std::vector<std::int64_t>>(kClasses, kClassSamples);
  return options;
}

/// How far a chi-square statistic with so many degrees of freedom lies from what is expected.
double deviations(double chi_square, double freedom) { return (chi_square - freedom) / std::sqrt(2 * freedom); }

/// How far the classes in batches are from those in batches drawn independently of class.
double class_clumping(OrderKind kind) {
  constexpr std::int64_t kBatches = kSamples / kBatch, kEpochs = 5;
  double chi_square = 0;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto samples = epoch_of(sorted_by_class(kind), epoch);
    for (std::int64_t batch = 0; batch < kBatches; ++batch) {
      std::vector<double> counts(kClasses);
      for (std::int64_t i = 0; i < kBatch; ++i) {
        ++counts[static_cast<std::size_t>(samples[static_cast<std::size_t>(batch * kBatch + i)] / kClassSamples)];
      }
      constexpr double kExpected = static_cast<double>(kBatch) / kClasses;
      for (const double count : counts) chi_square += (count - kExpected) * (count - kExpected) / kExpected;
    }
  }
  // An epoch has each sample once: the samples of a class in one batch are missing from others, a share of kBatch /
  // kSamples.
  chi_square *= static_cast<double>(kSamples - 1) / static_cast<double>(kSamples - kBatch);
  return deviations(chi_square, static_cast<double>((kClasses - 1) * kBatches * kEpochs));
}

TEST(GlobalOrder, MixesSortedClassesAsUniformDrawingDoes) {
  EXPECT_LT(std::abs(class_clumping(OrderKind::kGlobal)), kDeviations);
  EXPECT_GT(class_clumping(OrderKind::kWindowed), 100) << "of an order that does not, it can be seen";
}

TEST(GlobalOrder, BringsEverySampleToEveryPlaceEquallyOften) {
  for (const std::uint64_t size : {2, 5, 7, 12, 37, 64, 100}) {
    constexpr std::uint64_t kEpochs = 20'000;
    std::vector<double> counts(size * size);
    for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const Permutation permutation(size, 11, epoch);
      for (std::uint64_t place = 0; place < size; ++place) ++counts[place * size + permutation(place)];
    }
    const double expected = static_cast<double>(kEpochs) / static_cast<double>(size);
    double chi_square = 0;
    for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
    const auto freedom = static_cast<double>((size - 1) * (size - 1));
    // Rows and columns of this table depend on each other, which enlarges the statistic by this factor.
    chi_square *= static_cast<double>(size - 1) / static_cast<double>(size);
    EXPECT_LT(std::abs(deviations(chi_square, freedom)), kDeviations) << size;
  }
}

TEST(GlobalOrder, ShowsNoTrendFromOneSampleToTheNext) {
  for (const std::int64_t lag : {1, 2, 16, 256}) {
    double product = 0, pairs = 0;
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      const auto samples = epoch_of(sorted_by_class(OrderKind::kGlobal), epoch);
      for (std::size_t i = static_cast<std::size_t>(lag); i < samples.size(); ++i, ++pairs) {
        const auto centered = [&](std::size_t place) {
          return (static_cast<double>(samples[place]) + 0.5) / kSamples - 0.5;
        };
        product += centered(i) * centered(i - static_cast<std::size_t>(lag));
      }
    }
    EXPECT_LT(std::abs(12 * product / std::sqrt(pairs)), kDeviations) << "lag " << lag;
  }
}

}  // namespace
}  // namespace stoker
