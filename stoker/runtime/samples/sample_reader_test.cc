#include "stoker/runtime/samples/sample_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/format/open/sharded_dataset.h"
#include "stoker/order/epoch_order.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint64_t kSeed = 5;

// `count` samples of two bytes each, in a field "jpg".
ShardedDataset small_dataset(int count) {
  SampleTable samples;
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    samples.add_sample(fmt::format("key{}", i), 0);
    samples.add_field("jpg", "", bytes.size(), 2);
    bytes.insert(bytes.end(), {static_cast<std::uint8_t>(i), 7});
  }
  return ShardedDataset({std::make_shared<MemorySource>("memory", std::move(bytes))}, std::move(samples), {});
}

TEST(PositionsOf, AreWhereALoaderWouldDeliverTheSamples) {
  const ShardedDataset dataset = small_dataset(20);
  const std::vector<std::int64_t> samples = first_samples(dataset, kSeed, 4);
  EXPECT_THAT(samples, SizeIs(4));
  EXPECT_THAT(positions_of(samples, dataset, kSeed, 0), ElementsAre(0, 1, 2, 3));
  const EpochOrder order({.samples = 20, .seed = kSeed}, 3);
  const std::vector<std::int64_t> positions = positions_of(samples, dataset, kSeed, 3);
  ASSERT_THAT(positions, SizeIs(4));
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(order.sample_at(positions[i]), samples[i]);
}

TEST(FirstSamples, AreAtMostThoseOfTheDataSet) { EXPECT_THAT(first_samples(small_dataset(3), kSeed, 10), SizeIs(3)); }

TEST(SampleReader, ReadsTheFieldsThatAPlanNeeds) {
  const ShardedDataset dataset = small_dataset(3);
  const Plan plan(Recipe::named("imagenet-val"));
  SampleReader reader(dataset, plan);
  const std::span<const Bytes> fields = reader.read(2);
  ASSERT_THAT(fields, SizeIs(1));
  EXPECT_THAT(fields[0], ElementsAre(2, 7));
}

TEST(SampleReader, NamesTheSampleThatHasNoSuchField) {
  const ShardedDataset dataset = small_dataset(3);
  const Plan plan(Recipe::from_toml("[[view]]\nname = 'mask'\nfield = 'mask.png'\noperators = [{op = 'decode'}]"));
  SampleReader reader(dataset, plan);
  try {
    on_sample(dataset, 1, [&] { reader.read(1); });
    FAIL() << "a field that is not there was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.message(), HasSubstr("key1"));
    EXPECT_THAT(error.message(), HasSubstr("'mask.png'"));
  }
}

}  // namespace
}  // namespace stoker
