#include "stoker/format/content_tag.h"

#include <algorithm>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

constexpr std::uint64_t kEnd = 4096;

}  // namespace

std::uint64_t content_tag(Source& shard, std::uint64_t data_bytes) {
  const std::uint64_t each = std::min(data_bytes, kEnd);
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, data_bytes);
  bytes.resize(bytes.size() + 2 * each);
  const MutableBytes ends = MutableBytes(bytes).subspan(sizeof data_bytes);
  read_fully(shard, 0, ends.first(each));
  read_fully(shard, data_bytes - each, ends.subspan(each));
  return hash64(bytes);
}

void ContentTagger::update(Bytes bytes) {
  bytes_ += bytes.size();
  const Bytes head = bytes.first(std::min(bytes.size(), kEnd - head_.size()));
  head_.insert(head_.end(), head.begin(), head.end());
  const Bytes tail = bytes.last(std::min<std::size_t>(bytes.size(), kEnd));
  const std::size_t kept = std::min<std::size_t>(tail_.size(), kEnd - tail.size());
  tail_.erase(tail_.begin(), tail_.end() - static_cast<std::ptrdiff_t>(kept));
  tail_.insert(tail_.end(), tail.begin(), tail.end());
}

std::uint64_t ContentTagger::digest() const {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, bytes_);
  bytes.insert(bytes.end(), head_.begin(), head_.end());
  bytes.insert(bytes.end(), tail_.begin(), tail_.end());
  return hash64(bytes);
}

}  // namespace stoker
