// A shard with random damage, through the whole loader: an error with a sentence or an epoch of samples, never a crash.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/executor.h"
#include "stoker/format/tar_writer.h"
#include "stoker/plan/encoded_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

constexpr int kSamples = 6;

class TempShard {
 public:
  TempShard()
      : path_((std::filesystem::temp_directory_path() / fmt::format("stoker-damage-{}.tar", ::getpid())).string()) {}
  ~TempShard() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }
  std::vector<char> read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::vector<char>& bytes) const {
    std::filesystem::remove(path_);  // rewriting in place makes some file systems wait for the disk
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_;
};

void write_whole_shard(const std::string& path) {
  TarWriter writer(path);
  for (int i = 0; i < kSamples; ++i) {
    writer.add(fmt::format("n0/{:03}.cls", i), as_bytes(std::to_string(i % 3)));
    const auto seed = static_cast<std::uint64_t>(i);
    const auto image = i % 3 == 0   ? noisy_png(20 + i, 14, seed)
                       : i % 3 == 1 ? noisy_jpeg(30 + i, 22, seed)
                                    : noisy_jpeg(25, 31 + i, seed, {.progressive = true});
    writer.add(fmt::format("n0/{:03}.{}", i, i % 3 == 0 ? "png" : "jpg"), image);
  }
  writer.finish();
}

// One to eight bytes changed, a piece cut out, a piece repeated, or the end cut off.
void damage(std::vector<char>& bytes, Random& random) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random.below(bytes.size())); };
  std::ptrdiff_t begin = place(), end = place();
  if (begin > end) std::swap(begin, end);
  switch (random.below(4)) {
    case 0: bytes.erase(bytes.begin() + begin, bytes.begin() + std::min(end, begin + 700)); return;
    case 1: bytes.resize(static_cast<std::size_t>(begin)); return;
    case 2: {
      const std::vector<char> piece(bytes.begin() + begin, bytes.begin() + std::min(end, begin + 700));
      bytes.insert(bytes.begin() + begin, piece.begin(), piece.end());
      return;
    }
    default:
      for (std::uint64_t i = 0; i <= random.below(8); ++i)
        bytes[static_cast<std::size_t>(place())] = static_cast<char>(random.below(256));
  }
}

TEST(Corruption, OfAShardIsAnErrorOrConcealedButNeverACrash) {
  const TempShard shard;
  write_whole_shard(shard.path());
  const std::vector<char> whole = shard.read();
  int whole_epochs = 0, errors = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed, 0, 0, 0);
    std::vector<char> damaged = whole;
    damage(damaged, random);
    shard.write(damaged);
    try {
      Loader loader(open_dataset({shard.path()}, std::make_shared<InlineExecutor>()), small_recipe(),
                    {.batch = 2, .threads = 2, .memory = 8 << 20, .tail = Tail::kPad, .epochs_end = 1});
      audit_of(loader, 1);
      ++whole_epochs;
    } catch (const Error& error) {
      ++errors;
      EXPECT_GT(std::string_view(error.what()).size(), 20u) << "a sentence is expected";
    }
  }
  // Both happen: much of the damage lies in entropy-coded data, which decoders conceal, or in padding.
  EXPECT_GT(whole_epochs, 20);
  EXPECT_GT(errors, 300);
}

}  // namespace
}  // namespace stoker
