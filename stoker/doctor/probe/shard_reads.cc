#include "stoker/doctor/probe/shard_reads.h"

#include <algorithm>
#include <iterator>

#include "stoker/base/error.h"
#include "stoker/doctor/probe/file_opens.h"

namespace stoker {
namespace {

constexpr std::uint64_t kBlock = 4 << 10;  // direct reads of its multiples need no copy
constexpr int kDepthInOrder = 4;
constexpr std::size_t kShardsMax = 64;

}  // namespace

ShardReads::ShardReads(const DataFiles& files, const FileAccess& access, const StorageDevice& device)
    : StoredReads(device) {
  const std::size_t count = std::min(files.files.size(), kShardsMax);
  for (std::size_t i = 0; i < count; ++i) {
    const DataFiles::File& file = files.files[i * files.files.size() / count];
    Shard shard{.cold = nullptr, .warm = nullptr, .file = file, .begin = bytes_};
    shard.warm = std::make_unique<FileSource>(file.path, access, FileOptions{.random = true});
    try {
      if (direct_) {
        shard.cold = std::make_unique<FileSource>(file.path, access, FileOptions{.direct = true, .random = true});
      }
    } catch (const Error&) {  // it could be opened otherwise
      direct_ = false;
    }
    bytes_ += shard.warm->size();
    shards_.push_back(std::move(shard));
  }
  if (direct_) return;
  for (Shard& shard : shards_) {
    shard.cold = std::make_unique<FileSource>(shard.file.path, access, FileOptions{.random = true});
  }
}

std::vector<ReadSize> ShardReads::sizes(std::uint64_t record_bytes) const {
  // What lies anywhere is read from the device in whole units, one more than it fills.
  const bool is_whole = !direct_ || record_bytes % kBlock == 0;
  std::vector<ReadSize> sizes = {{record_bytes, record_bytes + (is_whole ? 0 : shards_.front().cold->alignment())}};
  for (const std::uint64_t bytes : {kSmallRead, kLargeRead}) {
    if (bytes != record_bytes && bytes <= bytes_) sizes.push_back({bytes, bytes});
  }
  return sizes;
}

StoredRead ShardReads::all_in_order(double seconds) const {
  return {.bytes = kLargeRead, .depth = kDepthInOrder, .seconds = seconds, .in_order = true};
}

TimedReads ShardReads::read_cold(const StoredRead& read) {
  if (!direct_) {
    for (const Shard& shard : shards_) drop_from_page_cache(shard.file);
  }
  const std::uint64_t begin = random_.below(bytes_);
  return time(read.in_order ? in_order(true, begin - begin % kLargeRead, bytes_) : at_random(true, read.bytes, bytes_),
              read);
}

std::uint64_t ShardReads::load(std::uint64_t bytes, double seconds) {
  const std::uint64_t window = std::min(bytes, bytes_);
  std::uint64_t left = window;
  const NextPlace all = in_order(false, 0, window);
  const NextPlace once = [&]() -> std::optional<ReadPlace> {
    if (left == 0) return std::nullopt;
    std::optional<ReadPlace> place = all();
    left -= place->bytes;
    return place;
  };
  warm_bytes_ = time(once, all_in_order(seconds)).bytes;
  return warm_bytes_;
}

TimedReads ShardReads::read_warm(const StoredRead& read) {
  return time(read.in_order ? in_order(false, 0, warm_bytes_) : at_random(false, read.bytes, warm_bytes_), read);
}

const ShardReads::Shard& ShardReads::shard_at(std::uint64_t place) const {
  return *std::prev(std::upper_bound(shards_.begin(), shards_.end(), place,
                                     [](std::uint64_t at, const Shard& shard) { return at < shard.begin; }));
}

NextPlace ShardReads::at_random(bool cold, std::uint64_t bytes, std::uint64_t window) {
  return [this, cold, bytes, window]() -> std::optional<ReadPlace> {
    const std::uint64_t at = random_.below(window > bytes ? window - bytes + 1 : 1);
    const Shard& shard = shard_at(at);
    FileSource& source = cold ? *shard.cold : *shard.warm;
    const std::uint64_t size = source.size(), length = std::min(bytes, size);
    std::uint64_t offset = std::min(at - shard.begin, size - length);
    if (bytes % kBlock == 0) offset -= offset % kBlock;
    return ReadPlace{.source = &source, .offset = offset, .bytes = length};
  };
}

/// From there on, round and round in what lies before `window`.
NextPlace ShardReads::in_order(bool cold, std::uint64_t begin, std::uint64_t window) const {
  return [this, cold, at = begin, window]() mutable -> std::optional<ReadPlace> {
    if (at >= window) at = 0;
    const Shard& shard = shard_at(at);
    FileSource& source = cold ? *shard.cold : *shard.warm;
    const std::uint64_t offset = at - shard.begin;
    const std::uint64_t length = std::min({kLargeRead, source.size() - offset, window - at});
    at += length;
    return ReadPlace{.source = &source, .offset = offset, .bytes = length};
  };
}

}  // namespace stoker
