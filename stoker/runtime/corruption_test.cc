// A shard with random damage, through the whole loader: an error with a sentence or an epoch of samples, never a crash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/executor.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr int kSamples = 6;

void write_whole_shard(const std::string& path) {
  TarWriter writer(path);
  for (int i = 0; i < kSamples; ++i) {
    writer.add(fmt::format("n0/{:03}.cls", i), as_bytes(std::to_string(i % 3)));
    const auto seed = static_cast<std::uint64_t>(i);
    const auto image = i % 3 == 0   ? noisy_png(60 + i, 44, seed)
                       : i % 3 == 1 ? noisy_jpeg(120 + i, 82, seed)
                                    : noisy_jpeg(95, 101 + i, seed, {.progressive = true});
    writer.add(fmt::format("n0/{:03}.{}", i, i % 3 == 0 ? "png" : "jpg"), image);
  }
  writer.finish();
}

// Mostly one to eight bytes changed, so that the shard stays readable and the decoders meet the damage; else a piece
// overwritten, cut out or repeated, or the end cut off.
void damage(std::string& bytes, Random& random) {
  std::size_t begin = random.below(bytes.size()), end = random.below(bytes.size());
  if (begin > end) std::swap(begin, end);
  const std::size_t length = std::min<std::size_t>(end - begin, 700);
  switch (random.below(8)) {
    case 0: bytes.erase(begin, length); return;
    case 1: bytes.resize(begin); return;
    case 2: bytes.insert(begin, bytes.substr(begin, length)); return;
    case 3: bytes.replace(begin, length, length, static_cast<char>(random.below(256))); return;
    default:
      for (std::uint64_t count = 1 + random.below(8); count > 0; --count)
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
  }
}

TEST(Corruption, OfAShardIsAnErrorOrConcealedButNeverACrash) {
  const TempFolder folder;
  const std::string shard = folder.path("shard.tar");
  write_whole_shard(shard);
  std::ifstream file(shard, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto count = rounds(std::uint64_t{1000});
  int refused = 0, bad_samples = 0, concealed = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(seed, 0, 0, 0);
    std::string damaged = whole;
    damage(damaged, random);
    std::filesystem::remove(shard);  // rewriting in place makes some file systems wait for the disk
    folder.write("shard.tar", damaged);
    int* outcome = &refused;
    try {
      Loader loader(open_dataset({shard}, std::make_shared<InlineExecutor>()), small_recipe(),
                    {.batch = 2,
                     .threads = 2,
                     .memory = 32 << 20,
                     .tail = Tail::kPad,
                     .bad_sample = BadSlotPolicy::kFail,
                     .epochs_end = 1});
      outcome = &bad_samples;
      audit_of(loader, 1);
      outcome = &concealed;
    } catch (const Error& error) {
      EXPECT_GT(std::string_view(error.what()).size(), 20u) << "a sentence is expected";
    }
    ++*outcome;
  }
  std::printf("of %d damaged shards %d were refused, %d had a bad sample, %d went through\n", static_cast<int>(count),
              refused, bad_samples, concealed);
  EXPECT_GT(refused, rounds(100));
  EXPECT_GT(bad_samples, rounds(100));
  EXPECT_GT(concealed, rounds(10));  // damage in padding or in what a decoder passes over
}

}  // namespace
}  // namespace stoker
