// The seam for image codecs: header facts first, then a window of RGB pixels. A decoder keeps its library's state and
// scratch memory between images; each worker has its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/codec/decode_limits.h"
#include "stoker/codec/mask_pixels.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"
#include "stoker/tensor/planes.h"

namespace stoker {

/// Counts of JPEGs that were decoded: by Stoker's own decoder, or by libjpeg, which takes longer.
struct PlaneDecodes {
  std::int64_t own = 0, by_library = 0;
  std::int64_t by_entry_points = 0;  // of the own ones
};

struct JpegWindow;

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
  /// `entry_points` are those that decodes_cleanly gave for this file, or none; wrong ones are detected and ignored.
  virtual ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) = 0;

  /// What masks have: the number that each pixel of the whole image is stored as, a grey or the index of a colour in
  /// its palette. It lasts as decode_rgb's view does. Throws kBadSample, also for images of other colours, and for
  /// codecs that may change numbers.
  virtual MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts);
  /// The number and sizes of the components that can be resampled one by one, without samples. Count 0: the image has
  /// only pixels. Throws as decode_rgb does.
  virtual Planes plane_sizes(Bytes encoded, const ImageFacts& facts);
  /// Of such an image: the samples that interpolation at the window's pixels reads (for components half as fine as the
  /// image one more on each side than those under the window), and some around them. They last as long as decode_rgb's
  /// view, and `entry_points` are as there. `shrink` above 1: those of the image decoded smaller (shrunk(),
  /// tensor/planes.h), while the window counts pixels all the same.
  virtual Planes decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {},
                               int shrink = 1);
  /// For a device to decode: what decode_planes would decode by these entry points, as far as can be seen beforehand.
  /// Null if it has to be decoded here. Lasts as decode_rgb's view does.
  virtual const JpegWindow* find_window(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                        int shrink = 1);
  /// Whether the file is certainly not bad, for a decoder that would not detect it. Nothing is decoded, so the answer
  /// is false for many good files, too.
  virtual bool is_surely_good(Bytes encoded);
  /// The counts of decode_planes and decode_rgb so far.
  virtual PlaneDecodes plane_decodes() const { return {}; }

  /// Decodes the whole image, to its last byte; returns whether no fault in its data had to be concealed. Appends to
  /// `entry_points` data that make decoding faster later, if the file has them. Throws as decode_rgb does.
  virtual bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points);
};

/// Recognises the codec by the first bytes, not by the file's name.
Codec detect_codec(Bytes encoded);

/// One object with a decoder for every codec, created on first use.
class AnyImageDecoder final : public ImageDecoder {
 public:
  explicit AnyImageDecoder(DecodeLimits limits = {});
  ~AnyImageDecoder() override;

  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) override;
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;
  Planes plane_sizes(Bytes encoded, const ImageFacts& facts) override;
  Planes decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {},
                       int shrink = 1) override;
  const JpegWindow* find_window(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points,
                                int shrink = 1) override;
  bool is_surely_good(Bytes encoded) override;
  PlaneDecodes plane_decodes() const override;

 private:
  ImageDecoder& decoder_for(Codec codec);

  DecodeLimits limits_;
  std::unique_ptr<ImageDecoder> jpeg_, png_, webp_, raw_, bmp_, gif_, tiff_, jpeg2000_, avif_, datum_, pnm_;
};

/// What every decoder checks before it decodes, since facts and windows may come from an index that does not fit the
/// bytes: throws kBadSample if the header's size is not what the facts say, kUsage if the window is empty or leaves the
/// image.
void check_decode_request(const ImageFacts& facts, int header_width, int header_height, Rect window);

/// What decode_numbers throws for codecs without it, and for an image whose pixels are colours.
[[noreturn]] void refuse_as_mask();
[[noreturn]] void refuse_colors_of_mask();

/// Throws kLimit if a side is too long.
void check_sides(std::int64_t width, std::int64_t height, const DecodeLimits& limits);

/// Throws kLimit, naming the limit, if an image of these dimensions is too large.
void check_limits(const ImageFacts& facts, const DecodeLimits& limits);

}  // namespace stoker
