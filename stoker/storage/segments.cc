#include "stoker/storage/segments.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace stoker {

std::uint64_t length_of(Segments segments) {
  std::uint64_t length = 0;
  for (const MutableBytes segment : segments) length += segment.size();
  return length;
}

void SegmentCursor::settle() {
  while (!segments_.empty() && done_ == segments_.front().size()) {
    segments_ = segments_.subspan(1);
    done_ = 0;
  }
}

std::uint64_t SegmentCursor::hole_to_pass(std::uint64_t hole_max) const {
  std::uint64_t length = 0;
  std::size_t skipped = done_;
  for (const MutableBytes segment : segments_) {
    if (!segment.empty() && !is_hole(segment)) return length > hole_max ? length : 0;
    length += segment.size() - skipped;
    skipped = 0;
  }
  return length;
}

std::uint64_t SegmentCursor::stretch(std::uint64_t hole_max) const {
  std::uint64_t length = 0;
  for (SegmentCursor place = *this; !place.at_end() && place.hole_to_pass(hole_max) == 0;) {
    const std::size_t left = place.segments_.front().size() - place.done_;
    length += left;
    place.pass(left);
  }
  return length;
}

void SegmentCursor::pass(std::uint64_t bytes) {
  while (bytes > 0 && !at_end()) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, segments_.front().size() - done_));
    done_ += step;
    bytes -= step;
    settle();
  }
}

void SegmentCursor::copy_from(Bytes bytes) {
  while (!bytes.empty() && !at_end()) {
    const MutableBytes segment = segments_.front();
    const std::size_t step = std::min(bytes.size(), segment.size() - done_);
    if (!is_hole(segment)) std::memcpy(segment.data() + done_, bytes.data(), step);
    bytes = bytes.subspan(step);
    pass(step);
  }
}

std::size_t SegmentCursor::gather(std::span<iovec> entries, MutableBytes sink, std::uint64_t bytes_max) const {
  std::size_t count = 0;
  SegmentCursor place = *this;
  while (count < entries.size() && bytes_max > 0 && !place.at_end() && place.hole_to_pass(sink.size()) == 0) {
    const MutableBytes segment = place.segments_.front();
    const std::size_t left = segment.size() - place.done_;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes_max));
    assert(!is_hole(segment) || step <= sink.size());
    entries[count++] = {is_hole(segment) ? sink.data() : segment.data() + place.done_, step};
    bytes_max -= step;
    place.pass(step);
  }
  return count;
}

}  // namespace stoker
