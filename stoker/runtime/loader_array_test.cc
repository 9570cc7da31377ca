// Arrays in the loader: it reads and checks what crops need of them, and nothing else; batches are those of whole
// arrays.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kVolumes = 12, kDepth = 20, kHeight = 80, kWidth = 90;
constexpr std::int64_t kSlice = std::int64_t{4} * kHeight * kWidth;

// Volumes of float32 with labels of uint8, of several depths: each with the number of its sample, in one shard.
class VolumeData final : public Dataset {
 public:
  explicit VolumeData(bool indexed, bool columns = false) : indexed_(indexed) {
    SampleTable table;
    for (int i = 0; i < kVolumes; ++i) {
      const std::size_t depth = static_cast<std::size_t>(kDepth + i % 3), places = depth * kHeight * kWidth;
      const std::string shape = fmt::format("(1, {}, {}, {})", depth, kHeight, kWidth);
      std::vector<std::uint8_t> numbers = uneven_bytes(4 * places, static_cast<std::uint64_t>(i));
      for (std::size_t at = 3; at < numbers.size(); at += 4) numbers[at] = 0x40;  // none is infinite
      table.add_sample(fmt::format("case{}", i), i % 3);
      add(table, "x.npy", npy_file({"<f4", shape, columns}, numbers));
      add(table, "y.npy", npy_file({"|u1", shape, columns}, uneven_bytes(places, static_cast<std::uint64_t>(i))));
    }
    table_ = std::move(table);
  }

  std::int64_t size() const override { return kVolumes; }
  const std::vector<std::string>& classes() const override { return data().classes(); }
  const std::vector<std::string>& field_names() const override { return data().field_names(); }
  void read(std::int64_t sample, SampleRow& into) const override {
    data().read(sample, into);
    if (!indexed_) return;
    into.chunk_crcs.clear();
    for (SampleField& field : into.fields) {
      const std::vector<std::uint32_t>& crcs = crcs_.at(field.offset);
      field.first_chunk = static_cast<std::uint32_t>(into.chunk_crcs.size());
      field.chunks = static_cast<std::uint32_t>(crcs.size());
      into.chunk_crcs.insert(into.chunk_crcs.end(), crcs.begin(), crcs.end());
    }
  }
  void prepare(std::span<const std::int64_t>) const override {}
  std::vector<std::int64_t> shard_samples() const override { return data().shard_samples(); }
  std::uint64_t bytes() const override { return bytes_.size(); }
  std::uint64_t fingerprint() const override { return 1; }

  FaultyOptions faults{};  // of the shard's reads, from the first one on

  // Before the first read.
  std::uint8_t& byte(std::int64_t sample, std::size_t field, std::uint64_t at) {
    return bytes_[places_[static_cast<std::size_t>(sample) * 2 + field] + at];
  }

 private:
  void add(SampleTable& table, std::string_view name, const std::vector<std::uint8_t>& file) {
    const std::uint64_t place = bytes_.size();
    places_.push_back(place);
    table.add_field(name, "", place, file.size());
    for (std::size_t at = 0; at < file.size(); at += kChunkBytes) {
      crcs_[place].push_back(crc32c(Bytes(file).subspan(at, std::min<std::size_t>(kChunkBytes, file.size() - at))));
    }
    bytes_.insert(bytes_.end(), file.begin(), file.end());
    bytes_.resize(bytes_.size() + 200'000);  // too much to be read over
  }
  const ShardedDataset& data() const {
    if (!data_) {
      auto shard = std::make_shared<FaultySource>(std::make_shared<MemorySource>("volumes.tar", bytes_), faults);
      data_ = std::make_unique<ShardedDataset>(std::move(shard), table_, std::vector<std::string>{});
    }
    return *data_;
  }

  const bool indexed_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> places_;
  std::map<std::uint64_t, std::vector<std::uint32_t>> crcs_;
  SampleTable table_;
  mutable std::unique_ptr<ShardedDataset> data_;
};

Recipe volumes(std::vector<double> size) {
  Recipe recipe;
  recipe.view("image", "x.npy").decode_array("f32", {1, -1, -1, -1}).array_crop(std::move(size));
  recipe.array_flip({1, 2, 3}, 0.5).array_standardize().array_noise();
  recipe.view("label", "y.npy").like("image").decode_array("u8", {1, -1, -1, -1});
  return recipe;
}

// The same, of fields that are read as a whole, since another view wants all of them.
Recipe whole_volumes(std::vector<double> size) {
  Recipe recipe = volumes(std::move(size));
  recipe.view("all_x", "x.npy").digest().view("all_y", "y.npy").digest();
  return recipe;
}

LoaderOptions options_of(int threads = 2) {
  LoaderOptions options{.batch = 4, .threads = threads, .memory = 256 << 20, .epochs_end = 2};
  options.bad_sample = BadSlotPolicy::kFail;
  return options;
}

/// Positions, keys and the two outputs, but not the digests.
std::vector<std::string> volumes_of(Loader& loader, int epochs = 2) {
  std::vector<std::string> lines;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (int slot = 0; slot < batch->size(); ++slot) {
        lines.push_back(fmt::format("{} {} {} {} {}", epoch, batch->position[static_cast<std::size_t>(slot)],
                                    batch->key[static_cast<std::size_t>(slot)], crc32c(batch->slot_bytes(0, slot)),
                                    crc32c(batch->slot_bytes(1, slot))));
      }
    }
  }
  return lines;
}

std::int64_t bytes_read(const Loader& loader) { return loader.metrics()[Metric::kBytesRead]; }

TEST(LoaderArrays, ReadsTheSlabThatACropNeeds) {
  for (const bool columns : {false, true}) {
    Loader whole(std::make_shared<VolumeData>(false, columns), whole_volumes({8, 60, 64}), options_of());
    const std::vector<std::string> expected = volumes_of(whole);
    ASSERT_EQ(expected.size(), std::size_t{2} * kVolumes);
    Loader parts(std::make_shared<VolumeData>(false, columns), volumes({8, 60, 64}), options_of());
    EXPECT_EQ(volumes_of(parts), expected);
    EXPECT_GT(bytes_read(whole), std::int64_t{2} * kVolumes * kSlice * kDepth);
    if (columns) continue;
    EXPECT_LT(bytes_read(parts), std::int64_t{2} * kVolumes * kSlice * (8 + 8));
  }
}

TEST(LoaderArrays, GivesTheSameHoweverItIsRead) {
  const auto whole_lines = [](std::vector<double> size) {
    Loader loader(std::make_shared<VolumeData>(true), whole_volumes(std::move(size)), options_of());
    return volumes_of(loader);
  };
  for (const std::vector<double>& size :
       {std::vector<double>{3, 10, 90}, {1, 1, 1}, {40, 100, 100}, {21, 80, 90}, {2, 80, 7}}) {
    const std::vector<std::string> expected = whole_lines(size);
    for (const bool indexed : {false, true}) {
      for (const int threads : {1, 3}) {
        Loader loader(std::make_shared<VolumeData>(indexed), volumes(size), options_of(threads));
        EXPECT_EQ(volumes_of(loader), expected) << size[0] << " x " << size[1] << ", index " << indexed;
      }
    }
    LoaderOptions cached = options_of();
    cached.cache = CacheKind::kRam;
    Loader loader(std::make_shared<VolumeData>(true), volumes(size), cached);
    EXPECT_EQ(volumes_of(loader), expected) << "from a cache";
  }
}

TEST(LoaderArrays, ReadsAllOfAnArrayWhoseHeaderCouldNotBeRead) {
  Loader undisturbed(std::make_shared<VolumeData>(false), volumes({8, 40, 40}), options_of());
  const std::vector<std::string> expected = volumes_of(undisturbed);
  const auto data = std::make_shared<VolumeData>(false);
  for (std::int64_t read = 0; read < kVolumes / 2; ++read) data->faults.fail_reads.insert(read);  // headers are first
  Loader loader(data, volumes({8, 40, 40}), options_of());
  EXPECT_EQ(volumes_of(loader), expected);
  EXPECT_GT(bytes_read(loader), bytes_read(undisturbed) + (kVolumes / 2 - 1) * kSlice * kDepth / 2);
}

TEST(LoaderArrays, GivesTheSameForAnyNumberOfRanks) {
  Loader alone(std::make_shared<VolumeData>(false), volumes({8, 40, 40}), options_of());
  std::vector<std::string> expected = volumes_of(alone), together;
  for (int rank = 0; rank < 2; ++rank) {
    LoaderOptions options = options_of();
    options.batch = 2;
    options.rank = rank;
    options.world = 2;
    Loader loader(std::make_shared<VolumeData>(false), volumes({8, 40, 40}), options);
    const std::vector<std::string> lines = volumes_of(loader);
    together.insert(together.end(), lines.begin(), lines.end());
  }
  std::sort(expected.begin(), expected.end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, expected);
}

TEST(LoaderArrays, NeedsMemoryForWhatIsReadAlone) {
  const VolumeData data(false);
  const Plan plan(volumes({2, 20, 90}));
  const auto locate = [&](const ArrayWindows& windows) {
    LocatorOptions options{.fields = plan.fields(), .array_windows = windows};
    options.sample_bytes_max = 300'000;
    BatchWork work;
    Ticket ticket;
    ticket.work = &work;
    ticket.sample = 1;
    SampleLocator(data, std::move(options)).locate(ticket);
    return std::pair(ticket.error, ticket.bytes);
  };
  EXPECT_EQ(kind_of(locate(ArrayWindows()).first), ErrorKind::kLimit) << "a volume is 605 KB long";
  const auto [error, bytes] = locate(ArrayWindows(plan));
  EXPECT_EQ(error, nullptr);
  // Two slices of the volume, and all of its label, which is short.
  EXPECT_LT(bytes, static_cast<std::uint64_t>(2 * kSlice + (kDepth + 1) * kSlice / 4 + 2000));
}

TEST(LoaderArrays, ChecksWhatItReadsAndNothingElse) {
  Recipe recipe;
  recipe.view("image", "x.npy").decode_array().array_crop({4, 80, 90}, "begin");
  for (const auto& [at, is_read] : {std::pair<std::int64_t, bool>{3 * kSlice, true}, {16 * kSlice, false}}) {
    const auto data = std::make_shared<VolumeData>(true);
    data->byte(7, 0, static_cast<std::uint64_t>(at)) ^= 0x10;
    Loader loader(data, recipe, options_of());
    std::string why;
    try {
      audit_of(loader, 1);
    } catch (const Error& error) {
      why = error.message();
    }
    const auto names_it = AllOf(HasSubstr("case7"), HasSubstr("'x.npy' is not what it was"));
    EXPECT_EQ(why.empty(), !is_read);
    if (is_read) {
      EXPECT_THAT(why, names_it);
    }
  }
}

TEST(LoaderArrays, PassesOverAnArrayThatLies) {
  for (const bool is_whole : {false, true}) {
    const auto data = std::make_shared<VolumeData>(false);
    for (std::uint64_t at = 10; at < 100; ++at) {  // (1, 20, 80, 90) becomes (1, 20, 80, 99)
      if (data->byte(3, 1, at) == '9') {
        data->byte(3, 1, at + 1) = '9';
        break;
      }
    }
    LoaderOptions options = options_of();
    options.bad_sample = BadSlotPolicy::kSkip;
    options.epochs_end = 1;
    Loader loader(data, is_whole ? whole_volumes({4, 40, 40}) : volumes({4, 40, 40}), options);
    int good = 0;
    for (const BatchPtr& batch : loader.epoch(0)) {
      good += batch->valid_count();
      for (int slot = 0; slot < batch->size(); ++slot) {
        const bool is_bad = !batch->valid(slot);
        EXPECT_EQ(is_bad, batch->sample[static_cast<std::size_t>(slot)] == 3);
      }
    }
    EXPECT_EQ(good, kVolumes - 1);
    options.bad_sample = BadSlotPolicy::kFail;
    Loader strict(data, is_whole ? whole_volumes({4, 40, 40}) : volumes({4, 40, 40}), options);
    try {
      audit_of(strict, 1);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), AllOf(HasSubstr("case3"), HasSubstr("'y.npy' is not an array: its shape needs")));
    }
  }
}

}  // namespace
}  // namespace stoker
