// The seam for image codecs: header facts first, then a window of RGB pixels. A decoder keeps its library's state and
// scratch memory between images; each worker has its own.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Limits that protect the machine; checked against the header before anything is allocated.
struct DecodeLimits {
  std::int64_t pixels_max = 89'000'000;
  int side_max = 65'535;
  std::int64_t bytes_max = std::int64_t{1} << 30;  // of decoded pixels
};

class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;

  /// Reads the header. Throws kBadSample for bytes that are bad by DESIGN "Bad samples", kLimit past a limit.
  virtual ImageFacts read_facts(Bytes encoded) = 0;

  /// The pixels of `window` (which lies within the image, unoriented) as 8-bit RGB of any strides, the same bits as the
  /// same columns and rows of the whole image. The view is valid until the next call, and
  /// while `encoded` is. Greys are spread over three
  /// channels, alpha is dropped, 16 bits keep their high byte, palettes are looked up, CMYK is converted as Pillow
  /// does. `facts` are those that read_facts returned for these bytes. Throws kBadSample.
  virtual ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window) = 0;

  /// Decodes the whole image, to its last byte; whether that went without concealing faults in its data. Throws as
  /// decode_rgb does.
  virtual bool decodes_cleanly(Bytes encoded, const ImageFacts& facts) {
    decode_rgb(encoded, facts, {0, 0, facts.width, facts.height});
    return true;
  }
};

/// Tells the codec by the first bytes, whatever the file is called.
Codec detect_codec(Bytes encoded);

/// A decoder for every codec behind one object, created on first use.
class AnyImageDecoder final : public ImageDecoder {
 public:
  explicit AnyImageDecoder(DecodeLimits limits = {});
  ~AnyImageDecoder() override;

  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts) override;

 private:
  ImageDecoder& decoder_for(Codec codec);

  DecodeLimits limits_;
  std::unique_ptr<ImageDecoder> jpeg_, png_, webp_, raw_;
};

/// Throws kLimit, naming the limit, if an image of these dimensions is too large.
void check_limits(const ImageFacts& facts, const DecodeLimits& limits);

/// The view turned upright: mirrored or transposed by strides alone, no pixel moves.
ImageView oriented(ImageView view, Orientation orientation);
/// Where a window of the upright image lies in the image as stored (`width` x `height` as stored).
Rect stored_window(Rect upright, int width, int height, Orientation orientation);

}  // namespace stoker
