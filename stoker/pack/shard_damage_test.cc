// Packed shards with random damage: a reader gets an error that names the shard, or of each sample what was
// packed, or the news that this very sample is bad. Never one sample in another's place, nor other bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<const ShardedDataset> open_packed(const std::string& path) {
  return open_dataset({path}, std::make_shared<InlineExecutor>());
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// All that a sample delivers; nothing if it is bad.
std::optional<std::string> delivered(const Dataset& data, std::int64_t number) {
  const SampleRow row = data.row(number);
  std::string all = fmt::format("{} {}", row.key, row.label);
  for (const SampleField& field : row.fields) {
    std::string bytes(field.length, '?');
    try {
      read_checked(row, field, MutableBytes(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadSample) throw;
      return std::nullopt;
    }
    all += fmt::format("\n{} {}", field.name, bytes);
  }
  return all;
}

struct Shard {
  std::string path, bytes;
};

/// Two stretches of the file, the second not before the first.
std::pair<std::size_t, std::size_t> two_places(const std::string& bytes, Random& random, bool whole_records) {
  const std::size_t unit = whole_records ? 512 : 1;
  std::size_t a = random.below(bytes.size() / unit) * unit, b = random.below(bytes.size() / unit) * unit;
  return std::minmax(a, b);
}

enum class Damage { kRepeat, kDelete, kSwap, kTruncate, kFlip, kAppend, kOverwrite, kZero, kIndex, kReplace, kCount };

/// Ranges are often whole records: what is between them then still looks like a tar.
std::string damaged(const Shard& shard, const Shard& other, Damage kind, Random& random) {
  std::string bytes = shard.bytes;
  const auto [begin, end] = two_places(bytes, random, random.below(4) != 0);
  const std::size_t length = end - begin;
  const std::size_t to = two_places(bytes, random, true).first;
  switch (kind) {
    case Damage::kRepeat: return bytes.insert(random.below(2) ? end : to, shard.bytes, begin, length);
    case Damage::kDelete: return bytes.erase(begin, length);
    case Damage::kSwap: {
      const std::size_t count = std::min(length, bytes.size() - end);
      std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                       bytes.begin() + static_cast<std::ptrdiff_t>(begin + count),
                       bytes.begin() + static_cast<std::ptrdiff_t>(end));
      return bytes;
    }
    case Damage::kTruncate: bytes.resize(begin); return bytes;
    case Damage::kFlip:
      for (std::uint64_t count = 1 + random.below(3); count > 0; --count) {
        char& byte = bytes[random.below(bytes.size())];
        byte = static_cast<char>(byte ^ 1 << random.below(8));
      }
      return bytes;
    case Damage::kAppend: return bytes.append(shard.bytes, begin, length);
    case Damage::kOverwrite: {
      const std::size_t count = std::min(length, bytes.size() - to);
      return bytes.replace(to, count, shard.bytes, begin, count);
    }
    case Damage::kZero: return bytes.replace(begin, bytes.size() - begin, bytes.size() - begin, '\0');
    case Damage::kIndex: {  // that of another shard, or of this one with a flipped bit
      const std::size_t member = bytes.find(kIndexMember), others = other.bytes.find(kIndexMember);
      if (random.below(2)) return bytes.replace(member, std::string::npos, other.bytes, others, std::string::npos);
      char& byte = bytes[member + 512 + random.below(bytes.size() - member - 512)];
      byte = static_cast<char>(byte ^ 1 << random.below(8));
      return bytes;
    }
    case Damage::kReplace: return other.bytes;
    case Damage::kCount: break;
  }
  return bytes;
}

/// A few tiny shards: with labels and without, of images and of raw pixels, which no decoder would find wrong.
class DamagedPack : public ::testing::TestWithParam<const char*> {
 protected:
  DamagedPack() {
    const bool raw = GetParam() == std::string("raw");
    const std::string source = raw ? folder_.path("flat") : tiny_folder(folder_, 14, 2);
    for (int i = 0; raw && i < 14; ++i) {
      const auto side = static_cast<int>(8 + i % 3);
      folder_.write(fmt::format("flat/{}.png", i), as_text(noisy_png(side, 8, static_cast<std::uint64_t>(i))));
    }
    pack({source}, packed_, {.shard_bytes = raw ? 4'000u : 15'000u, .transform = {.raw = raw}, .threads = 1});
    const Manifest manifest = *Manifest::read({}, packed_);
    for (const ManifestShard& shard : manifest.shards) {
      const std::string path = packed_ + "/" + shard.name;
      shards_.push_back({path, read_file(path)});
    }
    const auto data = open_packed(packed_);
    for (std::int64_t i = 0; i < data->size(); ++i) whole_.push_back(*delivered(*data, i));
  }

  /// Whether what is delivered is right; how it came out is counted.
  ::testing::AssertionResult is_told(const std::string& name) {
    try {
      const auto data = open_packed(packed_);
      if (data->size() != static_cast<std::int64_t>(whole_.size())) {
        return ::testing::AssertionFailure() << data->size() << " samples";
      }
      bool bad = false;
      for (std::int64_t i = 0; i < data->size(); ++i) {
        const std::optional<std::string> sample = delivered(*data, i);
        if (sample && *sample != whole_[static_cast<std::size_t>(i)]) {
          return ::testing::AssertionFailure() << "sample " << i << " is another";
        }
        bad = bad || !sample;
      }
      ++outcomes_[bad ? "bad samples" : "unhurt"];
    } catch (const Error& error) {
      if (std::string(error.what()).find(name) == std::string::npos) {
        return ::testing::AssertionFailure() << "does not name the shard: " << error.what();
      }
      ++outcomes_["refused"];
    }
    return ::testing::AssertionSuccess();
  }

  TempFolder folder_;
  std::string packed_ = folder_.path("packed");
  std::vector<Shard> shards_;
  std::vector<std::string> whole_;  // what each sample delivers
  std::map<std::string, int> outcomes_;
};

TEST_P(DamagedPack, DeliversWhatWasPackedOrNamesTheShardOrTheSample) {
  ASSERT_GE(shards_.size(), 3u);
  const auto count = rounds(std::uint64_t{400});
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(seed, 0, 0, 0);
    const Shard& shard = shards_[random.below(shards_.size())];
    const Shard& other = shards_[random.below(shards_.size())];
    const auto kind = static_cast<Damage>(seed % static_cast<std::uint64_t>(Damage::kCount));
    std::string bytes = damaged(shard, other, kind, random);
    if (random.below(3) == 0 && bytes.size() > 1024) {
      bytes = damaged({shard.path, bytes}, other, Damage::kFlip, random);  // two faults
    }
    fs::remove(shard.path);  // rewriting in place makes some file systems wait for the disk
    write_file(shard.path, bytes);
    EXPECT_TRUE(is_told(fs::path(shard.path).filename())) << "seed " << seed << ", damage " << static_cast<int>(kind);
    if (seed % 10 == 7) {  // decodes all, so that it is dearer
      EXPECT_EQ(verify({packed_}, {.threads = 1}).bad.empty(), bytes == shard.bytes) << "seed " << seed;
    }
    write_file(shard.path, shard.bytes);
  }
  // Both are met, or this shows nothing: most damages move what follows them, and few lie within a sample.
  EXPECT_GT(outcomes_["refused"], static_cast<int>(count / 8));
  EXPECT_GT(outcomes_["bad samples"], static_cast<int>(count / 50));
}

INSTANTIATE_TEST_SUITE_P(OfImagesAndOfPixels, DamagedPack, ::testing::Values("images", "raw"));

class ReplacedShard : public PackOfTinyFolder {
 protected:
  ReplacedShard() { pack_to("out", {.shard_bytes = 20'000}); }
  void expect_refused_everywhere(const std::string& shard, const std::string& why) {
    const std::string out = folder_.path("out");
    const auto named = AllOf(HasSubstr(shard), HasSubstr("manifest"), HasSubstr(why));
    EXPECT_THAT(error_of([&] {
                  const auto data = open_packed(out);
                  for (std::int64_t i = 0; i < data->size(); ++i) data->key(i);
                }).what(),
                named);
    const VerifyResult verified = verify({out}, {});
    ASSERT_FALSE(verified.bad.empty());
    EXPECT_THAT(verified.bad[0].reason, named);
    const DataInfo info = data_info({out}, {});
    ASSERT_FALSE(info.problems.empty());
    EXPECT_THAT(info.problems[0], named);
    const IndexJobResult indexed = index_shards({out}, {});
    ASSERT_EQ(indexed.broken.size(), 1u);
    EXPECT_THAT(indexed.broken[0].reason, named);
    EXPECT_THAT(error_of([&] { pack_to("out", {.shard_bytes = 20'000}); }).what(), named);
    EXPECT_THAT(error_of([&] { pack({out}, folder_.path("again"), {}); }).what(), named);
  }
  std::string shard_ = folder_.path("out/shard-000001.tar");
};

TEST_F(ReplacedShard, OfAnotherSizeIsNamedByEveryJobWithBothSizes) {
  const std::string bytes = read_file(shard_);
  write_file(shard_, bytes + bytes.substr(bytes.size() - 2048));
  expect_refused_everywhere(shard_, fmt::format("{} bytes, but", bytes.size() + 2048));
  expect_refused_everywhere(shard_, fmt::format("lists {}", bytes.size()));
}

// The same keys, labels and sizes: nothing but the bytes of one picture tells the two apart.
TEST_F(ReplacedShard, OfTheSameSizeIsNamedByEveryJob) {
  fs::copy(source_, folder_.path("other"), fs::copy_options::recursive);
  std::string file =
      folder_.path("other/" + open_packed(folder_.path("out"))->key(open_packed(shard_)->size()) + ".png");
  ASSERT_TRUE(fs::exists(file));
  std::string png = read_file(file);
  png[png.size() / 2] ^= 1;
  write_file(file, png);
  pack({folder_.path("other")}, folder_.path("changed"), {.shard_bytes = 20'000, .bad = BadSamplePolicy::kKeep});
  const std::string replacement = read_file(folder_.path("changed/shard-000001.tar"));
  ASSERT_EQ(replacement.size(), fs::file_size(shard_));
  ASSERT_NE(replacement, read_file(shard_));
  write_file(shard_, replacement);
  expect_refused_everywhere(shard_, "the index at the end");
}

TEST_F(ReplacedShard, IsPackedAnewWhereThePackGoesOn) {
  stop_pack_to("begun", {.shard_bytes = 20'000}, 50);
  const std::string shard = folder_.path("begun/shard-000001.tar");
  std::string bytes = read_file(shard);
  bytes[bytes.size() - 1100] ^= 1;
  write_file(shard, bytes);
  EXPECT_EQ(pack_to("begun", {.shard_bytes = 20'000}).resumed, 1);
  EXPECT_EQ(files_below(folder_.path("begun")), files_below(folder_.path("out")));
}

}  // namespace
}  // namespace stoker
