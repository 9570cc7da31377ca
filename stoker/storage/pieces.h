// The memory of one read: pieces that one contiguous range fills, the first piece first. A piece with a size but
// without memory is a hole, whose bytes are skipped: bytes between two fields need not be kept.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "stoker/base/bytes.h"

namespace stoker {

/// Holes of files up to this size are read and thrown away: four pages cost less to copy than another system call to
/// make.
constexpr std::size_t kHoleReadMax = 16 << 10;

using Pieces = std::span<const MutableBytes>;

/// A piece of `bytes` that are to be dropped.
inline MutableBytes hole(std::size_t bytes) { return {static_cast<std::uint8_t*>(nullptr), bytes}; }
inline bool is_hole(MutableBytes piece) { return piece.data() == nullptr && !piece.empty(); }

/// The sum of the pieces' sizes, holes included.
std::uint64_t length_of(Pieces pieces);

/// A place in pieces, which moves from their beginning to their end.
class PieceCursor {
 public:
  PieceCursor() = default;
  explicit PieceCursor(Pieces pieces) : pieces_(pieces) { drop_finished(); }

  bool at_end() const { return pieces_.empty(); }
  /// Bytes of the hole that begins here if it is longer than `hole_max` or is all that is left; else 0. Neighbouring
  /// holes are one.
  std::uint64_t hole_to_pass(std::uint64_t hole_max) const;
  /// Bytes from here to the next such hole, or to the end.
  std::uint64_t stretch(std::uint64_t hole_max) const;
  /// Moves on, at most to the end.
  void pass(std::uint64_t bytes);
  /// Fills the memory from here on and moves on.
  void copy_from(Bytes bytes);
  /// Describes up to `bytes_max` bytes of memory from here on for readv(), up to the next hole that is to be passed;
  /// shorter holes are read into `sink`, whose size decides which are. Returns how many entries it made.
  std::size_t gather(std::span<iovec> entries, MutableBytes sink, std::uint64_t bytes_max) const;

 private:
  /// Drops the pieces at the front that have no bytes left.
  void drop_finished();

  Pieces pieces_;
  std::size_t done_ = 0;  // bytes of the first piece that were passed
};

}  // namespace stoker
