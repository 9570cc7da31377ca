// A buffer of a batch of Arrow: what a column's rows have one after another, such as offsets, or the bytes of texts. It
// is read in small windows as rows go on, since images take most of a table and only their beginnings are looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/arrow/arrow_batches.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: one.
class ArrowBuffer {
 public:
  /// One without bytes.
  ArrowBuffer() = default;
  /// The source must outlive it.
  ArrowBuffer(Source& source, const ArrowRange& range) : source_(&source), range_(range) {}

  std::uint64_t place() const { return range_.place; }
  std::uint64_t bytes() const { return range_.bytes; }
  /// A part, which must lie in it; it stays until the next call. Throws what reading throws.
  Bytes read(std::uint64_t offset, std::size_t count);
  /// The number of so many bytes at a row.
  std::uint64_t number(std::uint64_t row, std::size_t width);
  bool bit(std::uint64_t row);
  /// Whether the bits of all these rows are set.
  bool all_bits(std::uint64_t begin, std::uint64_t end);

 private:
  Source* source_ = nullptr;
  ArrowRange range_;
  std::uint64_t begin_ = 0;  // of what is held
  std::vector<std::uint8_t> held_;
};

}  // namespace stoker
