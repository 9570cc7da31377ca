// The seam between code that finds samples and code that takes them one by one.
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
