// Walks over a scan without decoding pixels: finds the beginnings of its segments, and checks that all of it is sound.
#pragma once

#include "stoker/codec/jpeg/entry_points.h"
#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/scan_bytes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// What each of several walkers goes over at a time, in bytes. Where less is left than the shortest for each of them,
/// one walks alone.
struct WalkStretch {
  static constexpr std::int64_t kLongest = 16384;
  std::int64_t shortest = 1024, longest = kLongest;  // longest: at most kLongest
};

/// Keeps its memory between images.
class ScanWalker {
 public:
  explicit ScanWalker(const WalkStretch& stretch = {}) : stretch_(stretch) {}

  /// Fills `points` with those of the first `rows` rows of MCUs, bits counted in `scan`, and one for where they end.
  /// False if anything in these rows is not as an encoder writes it: libjpeg then decides what the image looks like.
  bool walk(const JpegHeader& header, const McuGrid& grid, JpegTables& tables, const ScanBytes& scan, int rows,
            EntryPoints& points);

 private:
  const WalkStretch stretch_;
  Scratch starts_;
};

}  // namespace stoker
