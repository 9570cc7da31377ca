#include "stoker/pack/repeated_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/hash.h"
#include "stoker/base/units.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

constexpr std::size_t kRepeatedNamedMax = 1000;

std::string key_of(const ShardRows& rows, std::int64_t row) {
  SampleRow read;
  rows.read(row, read);
  return read.key;
}

bool stands_before(const RepeatedKey& a, const RepeatedKey& b) { return a.row < b.row; }

/// Adds those among the samples of equal hashes. Collisions of hashes are found out later, among those that are named.
void add_repeated(std::vector<std::pair<std::uint64_t, std::int64_t>>& hashes, RepeatedKeys& into) {
  std::sort(hashes.begin(), hashes.end());
  std::size_t first = 0;
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    if (hashes[i].first != hashes[first].first) {
      first = i;
      continue;
    }
    ++into.count;
    into.named.push_back({hashes[i].second, hashes[first].second});
    if (into.named.size() < 2 * kRepeatedNamedMax) continue;
    std::nth_element(into.named.begin(), into.named.begin() + kRepeatedNamedMax, into.named.end(), stands_before);
    into.named.resize(kRepeatedNamedMax);
  }
}

}  // namespace

RepeatedKeys find_repeated_keys(const ShardRows& rows, const std::string& shard, const std::stop_token& stop,
                                std::size_t bytes_max) {
  RepeatedKeys found;
  std::vector<std::pair<std::uint64_t, std::int64_t>> hashes;
  const std::size_t at_once = std::max<std::size_t>(bytes_max / sizeof hashes[0], 1);
  const std::uint64_t passes = (static_cast<std::uint64_t>(rows.size()) + at_once - 1) / at_once;
  SampleRow row;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    hashes.clear();
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      stop_if_asked(stop, shard);
      rows.read(i, row);
      const std::uint64_t hash = hash64(row.key);
      if (hash % passes == pass) hashes.emplace_back(hash, i);
    }
    add_repeated(hashes, found);
  }
  std::sort(found.named.begin(), found.named.end(), stands_before);
  found.named.resize(std::min(found.named.size(), kRepeatedNamedMax));
  const auto collisions = std::erase_if(found.named, [&](const RepeatedKey& repeated) {
    return key_of(rows, repeated.row) != key_of(rows, repeated.first);
  });
  found.count -= static_cast<std::int64_t>(collisions);
  return found;
}

std::string RepeatedKeys::sentence(const std::string& shard, const ShardRows& rows) const {
  if (named.empty()) return {};
  return fmt::format(
      "'{}': the keys of {} repeat those of earlier samples, as happens when the members of a sample are not adjacent; "
      "the first is '{}'",
      shard, counted(count, "sample"), key_of(rows, named.front().row));
}

}  // namespace stoker
