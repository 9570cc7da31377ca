#include "stoker/codec/plain_decode.h"

#include "stoker/codec/cmyk.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"

namespace stoker {
namespace {

// From within an attempt. Of several scans all are read.
void start_decompress(jpeg_decompress_struct& jpeg, LibjpegErrors& errors) {
  jpeg_start_decompress(&jpeg);
  if (errors.ran_out()) errors.give_up(ErrorKind::kBadSample, "its scans have no end");
}

// libjpeg as its manual shows it: from the first row to the last, and on to the end of the file.
void decode_jpeg(Bytes encoded, PlainImage& image) {
  const int channels = image.facts.components == 4 ? 4 : 3;
  const std::size_t row_bytes = static_cast<std::size_t>(image.facts.width) * static_cast<std::size_t>(channels);
  image.rgb.resize(row_bytes * static_cast<std::size_t>(image.facts.height));
  LibjpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = errors.manager();
  const bool decoded = errors.attempt([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = channels == 4 ? JCS_CMYK : JCS_RGB;
    jpeg.dct_method = JDCT_ISLOW;
    start_decompress(jpeg, errors);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image.rgb.data() + jpeg.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
  });
  jpeg_destroy_decompress(&jpeg);
  if (!decoded) fail(errors.kind(), "the JPEG data cannot be decoded: {}", errors.message());
  if (channels == 4) {
    const std::size_t pixels =
        static_cast<std::size_t>(image.facts.width) * static_cast<std::size_t>(image.facts.height);
    inverted_cmyk_to_rgb_in_place(image.rgb.data(), pixels);
    image.rgb.resize(pixels * 3);
  }
}

bool has_planes(const jpeg_decompress_struct& jpeg) {
  if (jpeg.jpeg_color_space != JCS_GRAYSCALE && jpeg.jpeg_color_space != JCS_YCbCr) return false;
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& component = jpeg.comp_info[c];
    if (jpeg.max_h_samp_factor % component.h_samp_factor != 0) return false;
    if (jpeg.max_v_samp_factor % component.v_samp_factor != 0) return false;
  }
  return true;
}

// How many samples the transform makes of a block along a side. Ubuntu's libjpeg-turbo has the interface of libjpeg 8,
// where sides may differ.
#if JPEG_LIB_VERSION >= 70
int scaled_size(const jpeg_component_info& component) { return component.DCT_v_scaled_size; }
int smallest_scaled_size(const jpeg_decompress_struct& jpeg) { return jpeg.min_DCT_v_scaled_size; }
#else
int scaled_size(const jpeg_component_info& component) { return component.DCT_scaled_size; }
int smallest_scaled_size(const jpeg_decompress_struct& jpeg) { return jpeg.min_DCT_scaled_size; }
#endif

// Rows of MCUs in turn, as libjpeg hands them out, into whole blocks; then without the samples that fill these up.
void decode_raw(jpeg_decompress_struct& jpeg, std::vector<PlainPlane>& planes) {
  std::vector<PlainPlane> blocks(planes.size());
  for (std::size_t c = 0; c < planes.size(); ++c) {
    const jpeg_component_info& component = jpeg.comp_info[c];
    blocks[c].width = static_cast<int>(component.width_in_blocks) * DCTSIZE;
    blocks[c].height = static_cast<int>(jpeg.total_iMCU_rows) * component.v_samp_factor * DCTSIZE;
    blocks[c].samples.resize(static_cast<std::size_t>(blocks[c].width) * static_cast<std::size_t>(blocks[c].height));
  }
  const int rows_at_once = jpeg.max_v_samp_factor * smallest_scaled_size(jpeg);
  for (JDIMENSION mcu_row = 0; mcu_row < jpeg.total_iMCU_rows; ++mcu_row) {
    std::vector<std::vector<JSAMPROW>> rows(planes.size());
    std::vector<JSAMPARRAY> arrays;
    for (std::size_t c = 0; c < planes.size(); ++c) {
      const int count = jpeg.comp_info[c].v_samp_factor * scaled_size(jpeg.comp_info[c]);
      for (int row = 0; row < count; ++row) {
        rows[c].push_back(blocks[c].samples.data() +
                          (static_cast<std::ptrdiff_t>(mcu_row) * count + row) * blocks[c].width);
      }
      arrays.push_back(rows[c].data());
    }
    jpeg_read_raw_data(&jpeg, arrays.data(), static_cast<JDIMENSION>(rows_at_once));
  }
  for (std::size_t c = 0; c < planes.size(); ++c) {
    for (int y = 0; y < planes[c].height; ++y) {
      const auto row = blocks[c].samples.begin() + static_cast<std::ptrdiff_t>(y) * blocks[c].width;
      planes[c].samples.insert(planes[c].samples.end(), row, row + planes[c].width);
    }
  }
}

// PNG and WebP have no fast path: their decoders always make the whole image.
void decode_other(ImageDecoder& decoder, Bytes encoded, PlainImage& image) {
  const ImageView view = decoder.decode_rgb(encoded, image.facts, {0, 0, image.facts.width, image.facts.height});
  image.rgb.reserve(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height) * 3);
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(*view.at(x, y, c));
    }
  }
}

}  // namespace

PlainImage decode_plain_rgb(Bytes encoded, const DecodeLimits& limits) {
  AnyImageDecoder decoder(limits);
  PlainImage image;
  image.facts = decoder.read_facts(encoded);
  if (image.facts.codec == Codec::kJpeg) {
    decode_jpeg(encoded, image);
  } else {
    decode_other(decoder, encoded, image);
  }
  return image;
}

std::vector<PlainPlane> decode_plain_planes(Bytes encoded, const DecodeLimits& limits, int shrink) {
  AnyImageDecoder decoder(limits);
  const ImageFacts facts = decoder.read_facts(encoded);
  std::vector<PlainPlane> planes;
  if (facts.codec != Codec::kJpeg) return planes;
  LibjpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = errors.manager();
  bool decoded = errors.attempt([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    jpeg.raw_data_out = TRUE;
    jpeg.dct_method = JDCT_ISLOW;
    jpeg.scale_num = 1;
    jpeg.scale_denom = static_cast<unsigned>(shrink);
  });
  if (decoded && has_planes(jpeg)) {
    decoded = errors.attempt([&] { start_decompress(jpeg, errors); });
    // What follows has objects with destructors, which an error would jump over; libjpeg gives up on no damage here.
    if (decoded) {
      for (int c = 0; c < jpeg.num_components; ++c) {
        const jpeg_component_info& component = jpeg.comp_info[c];
        PlainPlane plane;
        plane.across = jpeg.max_h_samp_factor * DCTSIZE / (component.h_samp_factor * scaled_size(component));
        plane.down = jpeg.max_v_samp_factor * DCTSIZE / (component.v_samp_factor * scaled_size(component));
        plane.width = (facts.width + plane.across - 1) / plane.across;
        plane.height = (facts.height + plane.down - 1) / plane.down;
        plane.smooth = shrink == 1;
        planes.push_back(std::move(plane));
      }
      decode_raw(jpeg, planes);
      decoded = errors.attempt([&] { jpeg_finish_decompress(&jpeg); });
    }
  }
  jpeg_destroy_decompress(&jpeg);
  if (!decoded) fail(errors.kind(), "the JPEG data cannot be decoded: {}", errors.message());
  return planes;
}

}  // namespace stoker
