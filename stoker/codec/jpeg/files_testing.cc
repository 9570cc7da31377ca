#include "stoker/codec/jpeg/files_testing.h"

#include <array>

#include "stoker/codec/jpeg/libjpeg/libjpeg_destination.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

void set_sampling(jpeg_compress_struct& jpeg, const TestJpeg& options) {
  for (int i = 0; i < jpeg.num_components; ++i) {
    const bool full = i == 0 || i == 3;
    jpeg.comp_info[i].h_samp_factor = full ? options.horizontal : options.chroma_horizontal;
    jpeg.comp_info[i].v_samp_factor = full ? options.vertical : options.chroma_vertical;
  }
}

void set_color_spaces(jpeg_compress_struct& jpeg, const TestJpeg& options) {
  jpeg.input_components = options.components;
  jpeg.in_color_space = options.components == 1 ? JCS_GRAYSCALE : options.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  if (options.ycck) jpeg_set_colorspace(&jpeg, JCS_YCCK);
  if (options.rgb) jpeg_set_colorspace(&jpeg, JCS_RGB);
}

}  // namespace

std::vector<TestJpeg> test_jpeg_kinds() {
  std::vector<TestJpeg> kinds;
  struct Sampling {
    const char* name;
    int horizontal, vertical;
  };
  for (const Sampling& s : {Sampling{"444", 1, 1}, {"422", 2, 1}, {"420", 2, 2}, {"440", 1, 2}, {"411", 4, 1}}) {
    const TestJpeg base{.name = s.name, .horizontal = s.horizontal, .vertical = s.vertical};
    const auto add = [&](const char* suffix, auto change) {
      TestJpeg kind = base;
      kind.name += suffix;
      change(kind);
      kinds.push_back(kind);
    };
    add("", [](TestJpeg&) {});
    add("Standard", [](TestJpeg& k) { k.optimize = false; });
    add("Restarts", [](TestJpeg& k) { k.restart_interval = 3; });
    add("RestartRows", [](TestJpeg& k) { k.restart_rows = 1; });
    add("Progressive", [](TestJpeg& k) { k.progressive = true; });
    add("ProgressiveCutShort", [](TestJpeg& k) { k.progressive = true, k.scans_kept = 3; });
    add("Arithmetic", [](TestJpeg& k) { k.arithmetic = true; });
    add("ArithmeticProgressive", [](TestJpeg& k) { k.arithmetic = true, k.progressive = true; });
    add("NonInterleaved", [](TestJpeg& k) { k.non_interleaved = true; });
    add("Cmyk", [](TestJpeg& k) { k.components = 4; });
    add("Ycck", [](TestJpeg& k) { k.components = 4, k.ycck = true; });
  }
  kinds.push_back({.name = "Grey", .components = 1});
  kinds.push_back({.name = "GreyProgressive", .components = 1, .progressive = true});
  kinds.push_back({.name = "GreyRestarts", .components = 1, .restart_interval = 2});
  kinds.push_back({.name = "GreyFactors22", .components = 1, .horizontal = 2, .vertical = 2});
  kinds.push_back({.name = "GreyFactors12", .components = 1, .horizontal = 1, .vertical = 2});
  kinds.push_back({.name = "Rgb", .rgb = true});
  // Mixtures that few files have: factors 3 and 4, chroma finer than luma, chroma at half of one axis only.
  struct Mixture {
    int horizontal, vertical, chroma_horizontal, chroma_vertical;
  };
  for (const Mixture& m : {Mixture{3, 1, 1, 1},
                           {1, 3, 1, 1},
                           {4, 2, 1, 1},
                           {2, 4, 1, 1},
                           {1, 4, 1, 1},
                           {2, 2, 2, 1},
                           {2, 2, 1, 2},
                           {4, 1, 2, 1},
                           {1, 1, 2, 2},
                           {1, 1, 1, 2},
                           {2, 1, 1, 2}}) {
    const std::string name = "Factors" + std::to_string(m.horizontal) + std::to_string(m.vertical) +
                             std::to_string(m.chroma_horizontal) + std::to_string(m.chroma_vertical);
    kinds.push_back({.name = name,
                     .horizontal = m.horizontal,
                     .vertical = m.vertical,
                     .chroma_horizontal = m.chroma_horizontal,
                     .chroma_vertical = m.chroma_vertical});
  }
  return kinds;
}

std::vector<std::uint8_t> encode_test_jpeg(const TestJpeg& options, const TestImage& image) {
  LibjpegErrors errors;
  jpeg_compress_struct jpeg{};
  jpeg.err = errors.manager();
  std::array<jpeg_scan_info, 4> scans{};
  for (int i = 0; i < 4; ++i)
    scans[i] = {.comps_in_scan = 1, .component_index = {i}, .Ss = 0, .Se = 63, .Ah = 0, .Al = 0};
  std::vector<std::uint8_t> encoded;
  LibjpegDestination destination(encoded);
  const bool done = errors.attempt([&] {
    jpeg_create_compress(&jpeg);
    destination.attach(jpeg);
    jpeg.image_width = static_cast<JDIMENSION>(image.width);
    jpeg.image_height = static_cast<JDIMENSION>(image.height);
    set_color_spaces(jpeg, options);
    jpeg_set_quality(&jpeg, options.quality, TRUE);
    set_sampling(jpeg, options);
    jpeg.optimize_coding = options.optimize && !options.arithmetic ? TRUE : FALSE;
    jpeg.arith_code = options.arithmetic ? TRUE : FALSE;
    jpeg.restart_interval = static_cast<unsigned>(options.restart_interval);
    jpeg.restart_in_rows = options.restart_rows;
    if (options.progressive) jpeg_simple_progression(&jpeg);
    if (options.non_interleaved) {
      jpeg.scan_info = scans.data();
      jpeg.num_scans = options.components;
    }
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
      auto* row = const_cast<JSAMPROW>(image.view().at(0, static_cast<int>(jpeg.next_scanline)));
      jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
  });
  jpeg_destroy_compress(&jpeg);
  if (!done) fail(ErrorKind::kUsage, "{}: {}", options.name, errors.message());
  if (options.scans_kept > 0) {
    // Cut before the marker segments that lead to the first scan not kept.
    int scans_seen = 0;
    for (std::size_t i = 0; i + 1 < encoded.size(); ++i) {
      if (encoded[i] != 0xFF || encoded[i + 1] != 0xDA || scans_seen++ < options.scans_kept) continue;
      encoded.resize(i);
      encoded.insert(encoded.end(), {0xFF, 0xD9});
      break;
    }
  }
  return encoded;
}

bool libjpeg_gives_up(Bytes encoded) {
  LibjpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = errors.manager();
  std::vector<std::uint8_t> row;
  bool done = errors.attempt([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components == 4) jpeg.out_color_space = JCS_CMYK;
  });
  done = done && !errors.ran_out() && has_jpeg_end(encoded, encoded.size() - jpeg.src->bytes_in_buffer);
  done = done && errors.attempt([&] { jpeg_start_decompress(&jpeg); }) && !errors.ran_out();
  if (done) {
    row.resize(std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components));
    done = errors.attempt([&] {
      JSAMPROW pointer = row.data();
      while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, &pointer, 1);
      jpeg_finish_decompress(&jpeg);
    });
  }
  jpeg_destroy_decompress(&jpeg);
  return !done;
}

std::optional<TestImage> decode_whole_jpeg(Bytes encoded) {
  LibjpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = errors.manager();
  TestImage image;
  bool done = errors.attempt([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&jpeg);
  });
  if (done) {
    image = {static_cast<int>(jpeg.output_width), static_cast<int>(jpeg.output_height), jpeg.output_components, {}};
    const std::size_t row_bytes = std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components);
    image.pixels.resize(row_bytes * jpeg.output_height);
    done = errors.attempt([&] {
      while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = image.pixels.data() + jpeg.output_scanline * row_bytes;
        jpeg_read_scanlines(&jpeg, &row, 1);
      }
    });
  }
  jpeg_destroy_decompress(&jpeg);
  if (!done) return std::nullopt;
  return image;
}

}  // namespace stoker
