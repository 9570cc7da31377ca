// The ways in which an instruction set can decode segments, all to the same samples, and which is the fastest on this
// machine: processors differ in what loads from many places cost. Threads: any number use one.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/codec/jpeg/segment_buffers.h"

namespace stoker {

struct SegmentWay {
  std::string_view name;
  DecodeSegments decode;
};

class SegmentWays {
 public:
  /// The first is the one to be expected the fastest: images too small for a trial are decoded in it until there was
  /// one.
  explicit SegmentWays(std::vector<SegmentWay> ways);

  /// The first images are decoded in every way, until one has been the fastest most often.
  bool decode(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments);

  std::vector<std::string> names() const;
  /// From now on this way alone, whose name is known; an empty name: that which a new trial finds. Not to be called
  /// while others decode.
  void select(std::string_view name);

 private:
  bool try_all(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments);

  const std::vector<SegmentWay> ways_;
  std::atomic<const SegmentWay*> chosen_;  // null: on trial
  std::mutex mutex_;                       // of:
  std::vector<int> wins_;                  // by way
  int trials_ = 0;
};

}  // namespace stoker
