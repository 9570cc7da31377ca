// Walks over a scan without decoding pixels: finds the beginnings of its segments, and checks that all of it is sound.
#pragma once

#include "stoker/codec/jpeg/entry_points.h"
#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/scan_bytes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Keeps its memory between images.
class ScanWalker {
 public:
  /// Fills `points` with those of the first `rows` rows of MCUs, bits counted in `scan`, and one for where they end.
  /// False if anything in these rows is not as an encoder writes it: libjpeg then decides what the image looks like.
  bool walk(const JpegHeader& header, const McuGrid& grid, JpegTables& tables, const ScanBytes& scan, int rows,
            EntryPoints& points);

 private:
  Scratch starts_;
};

}  // namespace stoker
