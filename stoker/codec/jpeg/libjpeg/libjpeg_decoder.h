// JPEG by libjpeg-turbo, decoding only what a window needs: the pixels of any window are those of libjpeg's (and so
// Pillow's) whole image. Faults in the entropy-coded data are concealed as libjpeg conceals them; if libjpeg would give
// up before the end of the file, no window is decoded.
#pragma once

#include <memory>

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/planes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class LibjpegDecoder final : public ImageDecoder {
 public:
  LibjpegDecoder();
  ~LibjpegDecoder() override;

  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) override;

  Planes plane_sizes(Bytes encoded, const ImageFacts& facts) override;
  Planes decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {},
                       int shrink = 1) override;

 private:
  struct Session;  // libjpeg's object and its callbacks

  void open(Bytes encoded);
  /// Opens a file to decode a part of it. Throws if libjpeg would give up anywhere in the whole.
  void open_for_window(Bytes encoded);
  void start_decompress();
  /// All of the file that was opened; whether that went without concealing faults.
  bool pass_to_end();
  /// Of the file that was opened last.
  Planes plane_sizes() const;

  std::unique_ptr<Session> session_;
  Scratch pixels_;
};

}  // namespace stoker
