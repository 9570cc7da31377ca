#include <algorithm>
#include <array>

#include "stoker/codec/exif.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_destination.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"

namespace stoker {
namespace {

// What must be given back when libjpeg jumps out.
struct Encoder {
  LibjpegErrors errors;
  jpeg_compress_struct jpeg{};

  Encoder() { jpeg.err = errors.manager(); }
  ~Encoder() { jpeg_destroy_compress(&jpeg); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
};

void set_parameters(jpeg_compress_struct& jpeg, ImageView image, const JpegEncodeOptions& options) {
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  jpeg.optimize_coding = options.optimize ? TRUE : FALSE;
  jpeg.restart_in_rows = options.restart_rows;
  if (image.channels == 3) {
    jpeg.comp_info[0].h_samp_factor = options.subsampling == ChromaSubsampling::k444 ? 1 : 2;
    jpeg.comp_info[0].v_samp_factor = options.subsampling == ChromaSubsampling::k420 ? 2 : 1;
  }
  if (options.progressive) jpeg_simple_progression(&jpeg);
}

void write_rows(jpeg_compress_struct& jpeg, ImageView image) {
  std::array<JSAMPROW, 16> rows;
  while (jpeg.next_scanline < jpeg.image_height) {
    const int first = static_cast<int>(jpeg.next_scanline);
    const int count = std::min(image.height - first, static_cast<int>(rows.size()));
    // libjpeg does not write to its input, but its types do not say so.
    for (int i = 0; i < count; ++i) rows[i] = const_cast<JSAMPROW>(image.at(0, first + i));
    jpeg_write_scanlines(&jpeg, rows.data(), static_cast<JDIMENSION>(count));
  }
}

}  // namespace

void encode_jpeg(ImageView image, const JpegEncodeOptions& options, std::vector<std::uint8_t>& out) {
  if ((image.channels != 1 && image.channels != 3) || !image.interleaved()) {
    fail(ErrorKind::kUsage, "a JPEG needs interleaved rows of 1 or 3 channels, not of {}", image.channels);
  }
  if (image.width < 1 || image.height < 1) fail(ErrorKind::kUsage, "an image without pixels cannot be a JPEG");
  if (image.width > JPEG_MAX_DIMENSION || image.height > JPEG_MAX_DIMENSION) {
    fail(ErrorKind::kLimit, "an image of {} x {} pixels cannot become a JPEG, whose sides have at most {}", image.width,
         image.height, JPEG_MAX_DIMENSION);
  }
  const std::vector<std::uint8_t> exif =
      options.orientation == 1 ? std::vector<std::uint8_t>() : make_exif(options.orientation);
  Encoder encoder;
  LibjpegDestination destination(out);
  const bool done = encoder.errors.attempt([&] {
    jpeg_create_compress(&encoder.jpeg);
    destination.attach(encoder.jpeg);
    set_parameters(encoder.jpeg, image, options);
    jpeg_start_compress(&encoder.jpeg, TRUE);
    if (!exif.empty()) {
      jpeg_write_marker(&encoder.jpeg, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
    }
    write_rows(encoder.jpeg, image);
    jpeg_finish_compress(&encoder.jpeg);
  });
  if (done) return;
  const ErrorKind kind = encoder.errors.kind() == ErrorKind::kMemory ? ErrorKind::kMemory : ErrorKind::kUsage;
  fail(kind, "the image cannot be encoded as JPEG: {}", encoder.errors.message());
}

}  // namespace stoker
