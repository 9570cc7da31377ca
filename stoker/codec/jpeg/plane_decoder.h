// Stoker's own JPEG decoder: the components of an image under a window, the same samples as libjpeg's accurate inverse
// transform makes, from as little of the file as will do. It never guesses: where a file is not sound it says so, and
// libjpeg has the say.
#pragma once

#include <optional>

#include "stoker/codec/jpeg/entry_points.h"
#include "stoker/codec/jpeg/header.h"
#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/scan_bytes.h"
#include "stoker/codec/jpeg/segment_decoder.h"
#include "stoker/codec/jpeg/segment_layout.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/planes.h"

namespace stoker {

/// Keeps its memory between images: one per thread.
class JpegPlaneDecoder {
 public:
  /// The samples that interpolation at the window's pixels reads (the window lies within the image), and some around
  /// them. Valid until the next call. Nothing if the rows of the file down to the window's end are not sound. Without
  /// `points` all that stands before the window is passed over; with those of this file (in the file's bits) only what
  /// is needed is touched.
  std::optional<Planes> decode(Bytes encoded, const JpegHeader& header, Rect window,
                               const EntryPoints* points = nullptr);

  /// Finds the entry points of a whole file, in the file's bits. False if anything in it is not sound.
  bool find_entry_points(Bytes encoded, const JpegHeader& header, EntryPoints& points);

 private:
  struct McuWindow;

  void list_from_scan(const JpegHeader& header, const McuGrid& grid, const McuWindow& window);
  bool list_from_file(Bytes encoded, const JpegHeader& header, const McuGrid& grid, const McuWindow& window,
                      const EntryPoints& points);
  Planes make_targets(const JpegHeader& header, const McuWindow& window, SegmentWork& work);

  JpegTables tables_;
  ScanBytes scan_;
  EntryPoints walked_;
  std::vector<JpegSegment> segments_;
  std::vector<SegmentLayout> layouts_;  // of the samplings met so far
  SegmentDecoder decoder_;
  Scratch bytes_, samples_;
  struct alignas(16) Quantization {
    std::int16_t values[64];
  };
  Quantization quantization_[3];
};

}  // namespace stoker
