// The seam between what finds samples and what takes them one after another.
#pragma once

#include "stoker/format/sample_row.h"

namespace stoker {

/// Threads: one.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Replaces `row` by the next sample; false after the last. What its views show lives as long as the stream.
  virtual bool next(SampleRow& row) = 0;
};

}  // namespace stoker
