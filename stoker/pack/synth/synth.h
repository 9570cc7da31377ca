// Makes data sets of procedural images, so that trying, testing and measuring Stoker needs no real data.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace stoker {

enum class SynthKind : std::uint8_t {
  kImagenet,  // JPEG photographs of sorts, with ImageNet's statistics (bench/jpeg_statistics.cc compares them)
  kTiny,      // 32 x 32 PNG
};

enum class SynthFormat : std::uint8_t {
  kFolder,  // OUT/<class>/<key>.jpg
  kTar,     // OUT if it ends in ".tar", else OUT/shard-000000.tar, ...: <class>/<key>.jpg and <class>/<key>.cls
};

struct SynthOptions {
  SynthKind kind = SynthKind::kImagenet;
  SynthFormat format = SynthFormat::kFolder;
  std::int64_t count = 1000;
  std::int64_t classes = 10;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core
  /// Called after each sample, in order, by the thread that called synthesize().
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
  /// Once it reads true, synthesize() removes what it wrote and throws kClosed.
  const std::atomic<bool>* stop = nullptr;
};

/// Writes the data set to `out`, which must not exist yet; a folder may exist if it is empty. The classes' sizes differ
/// by at most one. Labels ascend with the keys ("c0003/0000312"), so that a folder and a tar list the same samples in
/// the same order. The bytes written depend on kind, format, count, classes and seed alone, never on the machine or the
/// thread count (given the same versions of libjpeg and zlib). Throws kUsage when the options make no sense or `out` is
/// taken, kIo or kNotFound when writing fails, kClosed when stopped; whatever it throws, what it had written is gone
/// again.
void synthesize(const std::string& out, const SynthOptions& options);

}  // namespace stoker
