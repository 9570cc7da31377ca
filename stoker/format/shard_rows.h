// The seam between a data set and the source of its rows: a list in memory, or an index that is read as needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/fingerprint.h"
#include "stoker/format/sample_row.h"

namespace stoker {

class IndexFetch;

/// The samples of one shard. Threads: any.
class ShardRows {
 public:
  virtual ~ShardRows() = default;

  virtual std::int64_t size() const = 0;
  /// Names of the fields that occur, in order of first appearance.
  virtual const std::vector<std::string>& field_names() const = 0;
  virtual Fingerprint fingerprint() const = 0;
  /// Bytes of all fields of all samples.
  virtual std::uint64_t bytes() const = 0;

  /// Replaces all of `into`; its source is the data set's to fill in. May read from storage; throws kIo, and kData for
  /// an index that is damaged.
  virtual void read(std::int64_t row, SampleRow& into) const = 0;
  /// Adds to `fetch` what read(row) would have to wait for.
  virtual void prepare(std::int64_t /*row*/, IndexFetch& /*fetch*/) const {}
};

}  // namespace stoker
