#include "stoker/codec/jpeg/segment_ways.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

// Images with fewer segments say little about time.
constexpr std::size_t kSegmentsTried = 48;
constexpr int kTrials = 9;

}  // namespace

SegmentWays::SegmentWays(std::vector<SegmentWay> ways) : ways_(std::move(ways)) { select({}); }

std::vector<std::string> SegmentWays::names() const {
  std::vector<std::string> names;
  for (const SegmentWay& way : ways_) names.emplace_back(way.name);
  return names;
}

void SegmentWays::select(std::string_view name) {
  const std::lock_guard lock(mutex_);
  wins_.assign(ways_.size(), 0);
  trials_ = 0;
  chosen_ = ways_.size() == 1 ? &ways_.front() : nullptr;
  if (name.empty()) return;
  const auto found = std::find_if(ways_.begin(), ways_.end(), [&](const SegmentWay& way) { return way.name == name; });
  assert(found != ways_.end());
  chosen_ = &*found;
}

bool SegmentWays::decode(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  const SegmentWay* const chosen = chosen_.load(std::memory_order_relaxed);
  if (chosen) return chosen->decode(buffers, work, segments);
  if (segments.size() < kSegmentsTried) return ways_.front().decode(buffers, work, segments);
  return try_all(buffers, work, segments);
}

bool SegmentWays::try_all(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  std::size_t first = 0, fastest = 0;
  {
    const std::lock_guard lock(mutex_);
    first = static_cast<std::size_t>(trials_);
  }
  std::int64_t least_ns = INT64_MAX;
  // What comes first loads the image into caches, so that the ways take turns.
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    const std::size_t way = (first + i) % ways_.size();
    const std::int64_t begin_ns = now_ns();
    if (!ways_[way].decode(buffers, work, segments)) return false;
    const std::int64_t ns = now_ns() - begin_ns;
    if (ns < least_ns) least_ns = ns, fastest = way;
  }
  const std::lock_guard lock(mutex_);
  ++wins_[fastest];
  if (++trials_ >= kTrials && !chosen_) {
    chosen_ = &ways_[static_cast<std::size_t>(std::max_element(wins_.begin(), wins_.end()) - wins_.begin())];
  }
  return true;
}

}  // namespace stoker
