#include "stoker/codec/avif/avif_decoder.h"

#include <avif/avif.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/avif/avif_file.h"
#include "stoker/codec/avif/mirror_axis.h"

namespace stoker {
namespace {

/// A file whose boxes have been read.
class AvifReader {
 public:
  /// `pixels_max` holds for the coded images.
  AvifReader(Bytes encoded, std::uint32_t pixels_max) : decoder_(avifDecoderCreate(), avifDecoderDestroy) {
    check_avif(encoded, pixels_max);
    if (!decoder_) fail(ErrorKind::kMemory, "the machine has no memory left for an AVIF image");
    decoder_->maxThreads = 1;
    decoder_->codecChoice = AVIF_CODEC_CHOICE_AOM;  // dav1d, which libavif would choose, prints what it finds
    decoder_->ignoreExif = decoder_->ignoreXMP = AVIF_TRUE;
    decoder_->imageSizeLimit = pixels_max;
    decoder_->imageCountLimit = 1;
    // Files of old encoders lack what the standard asks for; Pillow takes them, too.
    decoder_->strictFlags &= ~static_cast<avifStrictFlags>(AVIF_STRICT_CLAP_VALID | AVIF_STRICT_PIXI_REQUIRED);
    check(avifDecoderSetSource(decoder_.get(), AVIF_DECODER_SOURCE_PRIMARY_ITEM));
    check(avifDecoderSetIOMemory(decoder_.get(), encoded.data(), encoded.size()));
    check(avifDecoderParse(decoder_.get()));
    avifExtent extent{};
    check(avifDecoderNthImageMaxExtent(decoder_.get(), 0, &extent));
    if (extent.offset > encoded.size() || extent.size > encoded.size() - extent.offset)
      check(AVIF_RESULT_TRUNCATED_DATA);
  }

  void check(avifResult result) const {
    if (result == AVIF_RESULT_OK) return;
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
      fail(ErrorKind::kMemory, "the machine has no memory left for an AVIF image");
    const std::string_view more = decoder_->diag.error;
    fail(ErrorKind::kBadSample, "the AVIF data cannot be decoded: {}",
         more.empty() ? std::string_view(avifResultToString(result)) : more);
  }
  const avifImage& image() const { return *decoder_->image; }
  bool has_alpha() const { return decoder_->alphaPresent != AVIF_FALSE; }
  void decode() { check(avifDecoderNextImage(decoder_.get())); }

 private:
  std::unique_ptr<avifDecoder, void (*)(avifDecoder*)> decoder_;
};

// The image is turned anticlockwise, then mirrored.
Orientation orientation_of(const avifImage& image) {
  const int turns = image.transformFlags & AVIF_TRANSFORM_IROT ? image.irot.angle & 3 : 0;
  constexpr Orientation kTurned[] = {1, 8, 3, 6}, kThenUpsideDown[] = {4, 5, 2, 7}, kThenSidesSwapped[] = {2, 7, 4, 5};
  if (!(image.transformFlags & AVIF_TRANSFORM_IMIR)) return kTurned[turns];
  return image.imir.*kMirrorAxis ? kThenSidesSwapped[turns] : kThenUpsideDown[turns];
}

}  // namespace

ImageFacts AvifDecoder::read_facts(Bytes encoded) {
  const AvifReader reader(encoded, AVIF_DEFAULT_IMAGE_SIZE_LIMIT);
  const avifImage& image = reader.image();
  const bool grey = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
  return {.codec = Codec::kAvif,
          .width = static_cast<int>(image.width),
          .height = static_cast<int>(image.height),
          .components = (grey ? 1 : 3) + (reader.has_alpha() ? 1 : 0),
          .bits_per_component = static_cast<int>(image.depth),
          .orientation = orientation_of(image)};
}

ImageView AvifDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const std::int64_t count = std::int64_t{facts.width} * facts.height;
  AvifReader reader(encoded,
                    static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 1, AVIF_DEFAULT_IMAGE_SIZE_LIMIT)));
  check_decode_request(facts, static_cast<int>(reader.image().width), static_cast<int>(reader.image().height), window);
  reader.decode();
  check_decode_request(facts, static_cast<int>(reader.image().width), static_cast<int>(reader.image().height), window);
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, &reader.image());
  // Without a place for it, libavif would multiply the colours by the alpha.
  const int channels = reader.has_alpha() ? 4 : 3;
  rgb.depth = 8;
  rgb.format = reader.has_alpha() ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  rgb.rowBytes = static_cast<std::uint32_t>(facts.width * channels);
  rgb.pixels = pixels_.bytes(std::size_t{rgb.rowBytes} * static_cast<std::size_t>(facts.height));
  reader.check(avifImageYUVToRGB(&reader.image(), &rgb));
  ImageView view = interleaved_view<const std::uint8_t>(rgb.pixels, facts.width, facts.height, channels);
  view.channels = 3;
  return view.crop(window);
}

}  // namespace stoker
