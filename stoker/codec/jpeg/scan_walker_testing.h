// The walk beside one that decodes symbol by symbol.
#pragma once

#include <optional>
#include <string>

#include "stoker/codec/jpeg/scan_walker.h"

namespace stoker {

/// Keeps its memory between images.
class WalkComparison {
 public:
  /// What the walk over the first `rows` rows of MCUs finds otherwise than it should: nothing, that is, "".
  /// `sound`: whether they are.
  std::string difference(Bytes encoded, const JpegHeader& header, int rows, const WalkStretch& stretch, bool& sound);

 private:
  JpegTables tables_;
  ScanBytes scan_;
};

}  // namespace stoker
