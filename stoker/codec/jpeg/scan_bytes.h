// The entropy-coded bytes of a scan for decoders: without the zero that follows each 0xFF, and with readable memory
// beyond their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Bits of a scan are numbered from the highest of its first byte. The 64 from `position` on, of which the lowest 7 may
/// be missing; eight bytes are read.
inline std::uint64_t load_bits(const std::uint8_t* bytes, std::uint64_t position) {
  std::uint64_t word;
  __builtin_memcpy(&word, bytes + position / 8, sizeof(word));
  return __builtin_bswap64(word) << position % 8;
}

/// Where a copy ended: at what was read up to, and at what was written up to.
struct UnstuffedEnd {
  const std::uint8_t* from;
  std::uint8_t* to;
};

/// Copies bytes without the zeros that stand after 0xFF, up to `end` or the 0xFF of a marker. `to` has as much room.
UnstuffedEnd unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to);

/// Bytes that must be there beyond the end of what is decoded: a segment of nothing but the longest symbols is not
/// longer, and where data are damaged that is how far a decoder goes.
constexpr std::size_t kScanSlack = std::size_t{48} * 64 * 31 / 8 + 64;

/// A whole scan.
class ScanBytes {
 public:
  /// Reads from `begin` to the first marker that does not restart the scan, or is out of turn. `restarts`: whether the
  /// scan has restart markers. Valid until the next call.
  void read(Bytes encoded, std::size_t begin, bool restarts);

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Whether the file ends properly after the scan: with the end-of-image marker.
  bool ends_image() const { return ends_image_; }
  /// Where each interval after a restart marker begins.
  const std::vector<std::uint32_t>& restarts() const { return restarts_; }

 private:
  Scratch memory_;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  bool ends_image_ = false;
  std::vector<std::uint32_t> restarts_;
};

/// Finds the bytes of a scan in the file they come from.
class StuffedPlace {
 public:
  StuffedPlace(Bytes encoded, std::size_t begin) : encoded_(encoded), at_(begin) {}

  /// The offset in the file of the scan's byte `unstuffed`, which must not lie before the one asked for last.
  std::size_t find(std::uint32_t unstuffed);

 private:
  Bytes encoded_;
  std::size_t at_;
  std::uint32_t unstuffed_ = 0;
};

}  // namespace stoker
