// JPEG: Stoker's own decoder wherever it can, else libjpeg-turbo, whose planes and pixels are the same.
#pragma once

#include <memory>

#include "stoker/codec/image_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/codec/jpeg/rgb_of_planes.h"

namespace stoker {

class LibjpegDecoder;

class JpegDecoder final : public ImageDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder() override;

  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) override;
  Planes plane_sizes(Bytes encoded, const ImageFacts& facts) override;
  Planes decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {},
                       int shrink = 1) override;
  const JpegWindow* find_window(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                int shrink = 1) override;
  bool is_surely_good(Bytes encoded) override;

  PlaneDecodes plane_decodes() const override { return decodes_; }

 private:
  std::optional<Planes> decode_own(Bytes encoded, const ImageFacts& facts, const JpegHeader& header, Rect window,
                                   Bytes entry_points, int shrink);
  bool unpack(Bytes entry_points, Bytes encoded, const JpegHeader& header);

  const std::unique_ptr<LibjpegDecoder> libjpeg_;
  JpegPlaneDecoder own_;
  RgbOfPlanes rgb_;
  EntryPoints points_;
  std::optional<JpegHeader> header_;  // of
  std::optional<JpegWindow> window_;  // the one that was found last
  PlaneDecodes decodes_;
};

}  // namespace stoker
