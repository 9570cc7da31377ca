#include "stoker/doctor/probe/loose_reads.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/doctor/probe/file_opens.h"

namespace stoker {
namespace {

constexpr int kFilesAtOnce = 16;

// A guess, until some were read; and how many more than can be read in the time are made ready to be read cold.
constexpr double kFilesPerSecond = 500, kMoreFiles = 1.5;

}  // namespace

LooseReads::LooseReads(const DataFiles& files, const FileAccess& access, const StorageDevice& device)
    : StoredReads(device), files_(files), order_(files.files.size()), files_per_s_(kFilesPerSecond) {
  for (const std::string& folder : files.folders) {
    folders_.push_back(std::make_unique<FolderSource>(folder, access.executor));
  }
  for (const DataFiles::File& file : files.files) {
    largest_ = std::max(largest_, std::min(file.bytes, kLooseReadMax));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
}

std::vector<DataFiles::File> LooseReads::shuffled() const {
  std::vector<DataFiles::File> files;
  files.reserve(order_.size());
  for (const std::size_t number : order_) files.push_back(files_.files[number]);
  return files;
}

std::vector<ReadSize> LooseReads::sizes(std::uint64_t record_bytes) const {
  std::vector<ReadSize> sizes = {{largest_, std::min(record_bytes, largest_)}};
  for (const std::uint64_t bytes : {kSmallRead, kLargeRead}) {
    if (bytes < record_bytes) sizes.push_back({bytes, bytes});
  }
  return sizes;
}

StoredRead LooseReads::all_in_order(double seconds) const {
  return {.bytes = largest_, .depth = kFilesAtOnce, .seconds = seconds, .in_order = true};
}

TimedReads LooseReads::read_cold(const StoredRead& read) {
  const auto enough =
      static_cast<std::size_t>(files_per_s_ * read.seconds * kMoreFiles) + 4 * static_cast<std::size_t>(read.depth);
  std::vector<std::size_t> files;
  for (std::size_t i = 0; i < std::min(enough, order_.size()); ++i) {
    const std::size_t turn = turn_++ % order_.size();
    files.push_back(read.in_order ? turn : order_[turn]);
    drop_from_page_cache(files_.files[files.back()]);
  }
  TimedReads reads = time(each_once(std::move(files), read.bytes), read);
  files_per_s_ = std::max(reads.reads_per_s(), 1.0);
  return reads;
}

std::uint64_t LooseReads::load(std::uint64_t bytes, double seconds) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < order_.size() && sum < bytes; ++i) {
    warm_.push_back(order_[i]);
    sum += files_.files[order_[i]].bytes;
  }
  const TimedReads loaded = time(each_once(warm_, largest_), all_in_order(seconds));
  warm_.resize(std::min(warm_.size(), static_cast<std::size_t>(loaded.reads)));
  return loaded.bytes;
}

TimedReads LooseReads::read_warm(const StoredRead& read) {
  return time([this, &read] { return place_of(warm_[random_.below(warm_.size())], read.bytes); }, read);
}

ReadPlace LooseReads::place_of(std::size_t file, std::uint64_t bytes) const {
  const DataFiles::File& found = files_.files[file];
  return {.source = folders_[found.folder].get(), .part = found.part, .bytes = std::min(found.bytes, bytes)};
}

NextPlace LooseReads::each_once(std::vector<std::size_t> files, std::uint64_t bytes) const {
  return [this, files = std::move(files), bytes, i = std::size_t{0}]() mutable -> std::optional<ReadPlace> {
    if (i >= files.size()) return std::nullopt;
    return place_of(files[i++], bytes);
  };
}

}  // namespace stoker
