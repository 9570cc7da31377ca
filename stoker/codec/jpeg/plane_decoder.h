// Stoker's own JPEG decoder: the components of an image under a window, the same samples as libjpeg's accurate inverse
// transform makes, from as little of the file as possible. It never guesses: if a file is not sound, it says so, and
// libjpeg decodes the file.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "stoker/codec/jpeg/entry_points.h"
#include "stoker/codec/jpeg/header.h"
#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/scan_bytes.h"
#include "stoker/codec/jpeg/scan_walker.h"
#include "stoker/codec/jpeg/segment_decoder.h"
#include "stoker/codec/jpeg/segment_layout.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/planes.h"

namespace stoker {

/// Of a window's data that another decoder can take: their bits are counted in 32.
constexpr std::size_t kWindowBytesMax = std::size_t{1} << 28;

/// What decodes to the samples under a window, found by entry points and ready to be decoded elsewhere.
struct JpegWindow {
  const JpegHeader* header = nullptr;
  Planes planes;  // as decode() gives them, but without samples; whole blocks, of so many bytes each
  std::array<std::size_t, 3> plane_bytes{};
  Bytes data;  // kScanSlack bytes more may be read
  std::span<const JpegSegment> segments;
  int first_column = 0, first_row = 0;  // the window's first MCU, and
  int columns = 0, rows = 0;            // how many there are
  std::array<int, 3> side{8, 8, 8};     // samples of each component's blocks
};

/// Keeps its memory between images: one per thread.
class JpegPlaneDecoder {
 public:
  /// The samples that interpolation at the window's pixels reads (the window lies within the image), and some around
  /// them. Valid until the next call. Nothing if the rows of the file down to the window's end are not sound, or if
  /// other markers than restarts stand before the image's end. Without `points` all that stands before the window is
  /// passed over; with those of this file (in the file's bits), of which they say that all is sound, only what is
  /// needed is touched.
  /// `shrink` is that of ImageDecoder::decode_planes.
  std::optional<Planes> decode(Bytes encoded, const JpegHeader& header, Rect window,
                               const EntryPoints* points = nullptr, int shrink = 1);

  /// What decode() with `points` would decode. Nothing if they are not those of this file, as far as can be seen
  /// without decoding. `header` must last as long as what is returned: until the next call.
  std::optional<JpegWindow> find_window(Bytes encoded, const JpegHeader& header, Rect window, const EntryPoints& points,
                                        int shrink = 1);

  /// Finds the entry points of a whole file, in the file's bits. False if anything in it is not sound.
  bool find_entry_points(Bytes encoded, const JpegHeader& header, EntryPoints& points);

 private:
  struct McuWindow;

  void list_from_scan(const JpegHeader& header, const McuGrid& grid, const McuWindow& window);
  bool list_from_file(Bytes encoded, const JpegHeader& header, const McuGrid& grid, const McuWindow& window,
                      const EntryPoints& points);
  static JpegWindow laid_out(const JpegHeader& header, const McuWindow& mcus, int shrink);
  void make_targets(const JpegHeader& header, JpegWindow& window, SegmentWork& work);

  JpegTables tables_;
  ScanBytes scan_;
  ScanWalker walker_;
  EntryPoints walked_;
  std::vector<JpegSegment> segments_;
  std::size_t unstuffed_bytes_ = 0;     // that they were copied to
  std::vector<SegmentLayout> layouts_;  // of the samplings met so far
  SegmentDecoder decoder_;
  Scratch bytes_, samples_;
  struct alignas(16) Quantization {
    std::int16_t values[64];
  };
  Quantization quantization_[3];
};

}  // namespace stoker
