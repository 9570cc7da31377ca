// Images that are stored raw: the loader reads and checks what a sample's crop needs of them, and nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/codec/npy.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kSamples = 12, kWidth = 400, kHeight = 300;  // of six chunks
constexpr std::int64_t kChunk = static_cast<std::int64_t>(kChunkBytes);

std::vector<std::uint8_t> raw_image(int number) {
  std::vector<std::uint8_t> pixels(3 * kWidth * kHeight), npy;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i / 7 + i / (3 * kWidth) * 5 + static_cast<std::size_t>(number) * 31);
  }
  encode_npy(interleaved_view<const std::uint8_t>(pixels.data(), kWidth, kHeight, 3), npy);
  return npy;
}

// Raw images as an index knows them.
class IndexedRawData final : public Dataset {
 public:
  explicit IndexedRawData(bool indexed) : indexed_(indexed) {
    SampleTable table;
    for (int i = 0; i < kSamples; ++i) {
      const std::vector<std::uint8_t> npy = raw_image(i);
      length_ = npy.size();
      for (std::size_t at = 0; at < length_; at += kChunkBytes) {
        crcs_.push_back(crc32c(Bytes(npy).subspan(at, std::min<std::size_t>(kChunkBytes, length_ - at))));
      }
      table.add_sample(fmt::format("sample{}", i), i % 3);
      table.add_field("npy", "", bytes_.size(), npy.size());
      bytes_.insert(bytes_.end(), npy.begin(), npy.end());
      bytes_.resize(bytes_.size() + 200'000);  // too much to be read over
    }
    table_ = std::move(table);
  }

  std::int64_t size() const override { return kSamples; }
  const std::vector<std::string>& classes() const override { return data().classes(); }
  const std::vector<std::string>& field_names() const override { return data().field_names(); }
  void read(std::int64_t sample, SampleRow& into) const override {
    data().read(sample, into);
    if (!indexed_) return;
    into.facts = facts;
    into.chunk_crcs.assign(crcs_.begin() + sample * chunks(), crcs_.begin() + (sample + 1) * chunks());
    into.fields[0].chunks = static_cast<std::uint32_t>(chunks());
  }
  void prepare(std::span<const std::int64_t>) const override {}
  std::vector<std::int64_t> shard_samples() const override { return data().shard_samples(); }
  std::uint64_t bytes() const override { return length_ * kSamples; }
  std::uint64_t fingerprint() const override { return 1; }

  std::int64_t chunks() const { return static_cast<std::int64_t>((length_ + kChunkBytes - 1) / kChunkBytes); }
  // Flips a bit of a chunk of a sample; before the first read.
  void damage(std::size_t sample, std::size_t chunk) {
    bytes_[sample * (length_ + 200'000) + chunk * kChunkBytes + 5] ^= 0x10;
  }

  ImageFacts facts{.codec = Codec::kRaw, .width = kWidth, .height = kHeight, .components = 3};

 private:
  const ShardedDataset& data() const {
    if (!data_) {
      data_ = std::make_unique<ShardedDataset>(std::make_shared<MemorySource>("raw.tar", bytes_), table_,
                                               std::vector<std::string>{});
    }
    return *data_;
  }

  const bool indexed_;
  std::size_t length_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> crcs_;
  SampleTable table_;
  mutable std::unique_ptr<ShardedDataset> data_;
};

std::shared_ptr<IndexedRawData> indexed() { return std::make_shared<IndexedRawData>(true); }

// Rows 118 to 181, of which bytes lie in chunks 2 and 3.
Recipe middle() { return Recipe().decode().center_crop(64); }

LoaderOptions one_epoch(BadSlotPolicy policy = BadSlotPolicy::kFail, CacheKind cache = CacheKind::kNone) {
  LoaderOptions options{.batch = 4, .threads = 2, .memory = 64 << 20, .cache = cache, .epochs_end = 1};
  options.bad_sample = policy;
  return options;
}

TEST(LoaderRaw, ReadsWhatTheCropNeeds) {
  Loader whole(std::make_shared<IndexedRawData>(false), middle(), one_epoch());
  const std::vector<std::string> expected = audit_of(whole, 1);
  ASSERT_EQ(expected.size(), std::size_t{kSamples});
  EXPECT_GT(whole.metrics()[Metric::kBytesRead], kSamples * 5 * kChunk);

  Loader parts(indexed(), middle(), one_epoch());
  EXPECT_EQ(audit_of(parts, 1), expected);
  EXPECT_EQ(parts.metrics()[Metric::kBytesRead], kSamples * 3 * kChunk) << "the header's chunk and two";
}

TEST(LoaderRaw, GivesTheSameForRandomCropsAndWholeImages) {
  const auto audits = [&](const Recipe& recipe) {
    Loader whole(std::make_shared<IndexedRawData>(false), recipe, one_epoch());
    Loader parts(indexed(), recipe, one_epoch());
    const std::vector<std::string> expected = audit_of(whole, 1);
    EXPECT_EQ(audit_of(parts, 1), expected);
    return parts.metrics()[Metric::kBytesRead];
  };
  const std::int64_t random = audits(small_recipe());
  EXPECT_LT(random, static_cast<std::int64_t>(indexed()->bytes()));
  EXPECT_EQ(audits(Recipe().decode().resize(32, 32)), static_cast<std::int64_t>(indexed()->bytes()));
}

TEST(LoaderRaw, ChecksWhatItReadsAndNothingElse) {
  for (const CacheKind cache : {CacheKind::kNone, CacheKind::kRam}) {
    for (const std::size_t chunk : {0u, 1u, 2u, 3u, 4u, 5u}) {
      const auto data = indexed();
      data->damage(7, chunk);
      Loader loader(data, middle(), one_epoch(BadSlotPolicy::kSkip, cache));
      const bool wanted = chunk == 0 || chunk == 2 || chunk == 3;
      EXPECT_EQ(audit_of(loader, 1).size(), static_cast<std::size_t>(wanted ? kSamples - 1 : kSamples)) << chunk;
    }
  }
}

TEST(LoaderRaw, NamesTheDamagedBytes) {
  const auto data = indexed();
  data->damage(0, 3);
  Loader loader(data, middle(), one_epoch());
  try {
    audit_of(loader, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("sample0"), HasSubstr(fmt::format("from {} on", 3 * kChunk))));
  }
}

TEST(LoaderRaw, BelievesNoIndexThatMistakesTheSize) {
  const auto data = indexed();
  std::swap(data->facts.width, data->facts.height);
  Loader loader(data, middle(), one_epoch());
  try {
    audit_of(loader, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("is 400 x 300 pixels, and the index says 300 x 400"));
  }
}

TEST(LoaderRaw, ReadsAllWhereAnIndexSaysMorePixelsThanCanBeCounted) {
  Loader whole(std::make_shared<IndexedRawData>(false), middle(), one_epoch());
  const auto data = indexed();
  data->facts = {.codec = Codec::kRaw, .width = 1'128'715'702, .height = 2'042'890'876, .components = 8};
  const std::uint64_t pixels = std::uint64_t{8} * 1'128'715'702 * 2'042'890'876;
  ASSERT_EQ(pixels, 328'000u) << "modulo 2^64, which the field has room for";
  Loader loader(data, middle(), one_epoch());
  EXPECT_EQ(audit_of(loader, 1), audit_of(whole, 1));
  EXPECT_EQ(loader.metrics()[Metric::kBytesRead], static_cast<std::int64_t>(data->bytes()));
}

}  // namespace
}  // namespace stoker
