// Decodes the segments of a TIFF file by libtiff, which is given a header that Stoker wrote and one segment at a time.
// libtiff's messages stay in the object.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stoker/codec/tiff/tiff_file.h"

struct tiff;

namespace stoker {

/// An object for each worker, which keeps its memory.
class TiffSegmentCodec {
 public:
  TiffSegmentCodec() = default;
  ~TiffSegmentCodec() { close(); }
  TiffSegmentCodec(const TiffSegmentCodec&) = delete;
  TiffSegmentCodec& operator=(const TiffSegmentCodec&) = delete;

  /// Before the first segment of an image, which lasts until close(). Throws kMemory.
  void open(const TiffImage& image);
  /// Rows of TiffImage::row_bytes, as many as rows_of says; samples of 16 bits in the machine's byte order. Throws
  /// kBadSample, kMemory.
  void decode(int segment, std::uint8_t* into);
  /// Whether a fault had to be concealed since open().
  bool has_concealed() const { return warned_; }
  void close();

 private:
  struct Hooks;  // what libtiff calls

  Bytes in_order(Bytes segment);
  [[noreturn]] void give_up() const;

  const TiffImage* image_ = nullptr;
  tiff* file_ = nullptr;
  std::vector<std::uint8_t> header_, reversed_;
  std::size_t at_ = 0;  // where libtiff reads the header
  std::array<char, 200> error_{};
  bool warned_ = false;
};

}  // namespace stoker
