// The inputs of targets that read images, masks and boxes.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/corpus_folder.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/avif/avif_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/codec/jpeg2000/jpeg2000_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/png_testing.h"
#include "stoker/codec/tiff/tiff_testing.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

void keep_arrays(const Corpus& corpus) {
  const std::vector<std::uint8_t> pixels(2 * 3 * 4, 9);
  for (const int channels : {1, 3, 4}) {
    std::vector<std::uint8_t> encoded;
    encode_npy(interleaved_view(pixels.data(), 3, 2, channels), encoded);
    corpus.keep("npy", fmt::format("channels_{}", channels), encoded);
    if (channels == 1) corpus.keep("mask", "array", encoded);
  }
  constexpr std::size_t kVolumeBytes = std::size_t{2} * 3 * 4 * 5;
  corpus.keep("npy", "volume", npy_file({"<f4", "(1, 2, 3, 5)"}, uneven_bytes(kVolumeBytes, 1)));
  corpus.keep("npy", "columns", npy_file({">i2", "(3, 4, 5)", true}, uneven_bytes(kVolumeBytes, 1)));
  corpus.keep("npy", "rows", npy_file({"<f8", "(0, 4)"}, {}));
  corpus.keep("npy", "number", npy_file({"<u8", "()"}, uneven_bytes(sizeof(std::uint64_t), 1)));
}

void keep_boxes(const Corpus& corpus) {
  constexpr std::string_view kCoco =
      R"({"annotations": [{"bbox": [1, 2.5, 30, 40], "category_id": 3, "iscrowd": 0, "segmentation": [[1, 2, 3, 4]]},
 {"category_id": 7, "bbox": [0, 0, 9e3, 1e-3], "iscrowd": 1}]})";
  constexpr std::string_view kVoc = R"(<?xml version="1.0"?><annotation><filename>a.jpg</filename>
<object><name>dog</name><difficult>0</difficult><bndbox><xmin>1</xmin><ymin>2.5</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>
<part><name>head</name></part></object><object><name>person</name><difficult>1</difficult>
<bndbox><xmin>5</xmin><ymin>5</ymin><xmax>6</xmax><ymax>7</ymax></bndbox></object></annotation>)";
  corpus.keep("boxes", "coco", as_bytes(kCoco));
  corpus.keep("boxes", "coco_list", as_bytes(R"([{"bbox": [1, 2, 3, 4], "category_id": 5}])"));
  corpus.keep(
      "boxes", "coco_shapes",
      as_bytes(R"([{"bbox":[1,2,30,40],"category_id":1,"segmentation":[[1,2,30,4.5,20,40,-3,9],[40,1,60,1,50,47.25]],
"keypoints":[3,4,2,0,0,0,63,47,1]},{"bbox":[0,0,9,9],"category_id":2,"id":7,"segmentation":{"counts":[100,200,2772],"size":[48,64]}},
{"bbox":[0,0,9,9],"category_id":2,"segmentation":{"size":[48,64],"counts":"T3X6df2"}},
{"bbox":[0,0,9,9],"category_id":2,"segmentation":{"size":[48,64],"counts":"Xo03]1000Xl1"}}])"));
  corpus.keep(
      "boxes", "coco_segments",
      as_bytes(R"([{"file_name":"a.png","segments_info":[{"id":3,"category_id":1,"bbox":[1,2,3,4],"iscrowd":0}]}])"));
  corpus.keep("boxes", "coco_columns",
              as_bytes(R"({"objects": {"bbox": [[1, 2, 3, 4]], "category": [5], "iscrowd": [0]}})"));
  corpus.keep("boxes", "coco_numbered", as_bytes(R"({"99999999999": {"bbox": [1]}, "annotations": []})"));
  corpus.keep("boxes", "voc", as_bytes(kVoc));
  corpus.keep("boxes", "yolo", as_bytes("0 0.5 0.5 0.25 0.125\n17 0.1 0.9 1e-3 .5\r\n\n"));
}

void keep_masks(const Corpus& corpus) {
  constexpr int kGrey = 0, kColors = 2, kPalette = 3;
  const TestPng masks[] = {{.name = "grey", .color_type = kGrey},
                           {.name = "grey_16", .color_type = kGrey, .bit_depth = 16},
                           {.name = "palette", .color_type = kPalette},
                           {.name = "palette_2", .color_type = kPalette, .bit_depth = 2, .interlaced = true},
                           {.name = "colors", .color_type = kColors}};
  for (const TestPng& mask : masks) corpus.keep("mask", mask.name, make_test_png(mask, 9, 5).bytes);
  for (const int bits : {1, 8, 16}) {
    const TestTiff tiff{.name = "", .width = 9, .height = 5, .photometric = 1, .samples = 1, .bits = bits};
    corpus.keep("mask", fmt::format("tiff_{}", bits), make_test_tiff(tiff).bytes);
  }
  corpus.keep("mask", "gif", noisy_gif(9, 5, 1));
  corpus.keep("mask", "bmp", noisy_bmp(9, 5, 1));
  corpus.keep("mask", "pnm", as_bytes("P2 3 2 300 0 1 299 3 4 7"));
  corpus.keep("mask", "signed_array", npy_file({.type = "<i2"}, uneven_bytes(12, 1)));
}

void keep_images(const Corpus& corpus) {
  corpus.keep("bmp", "rgb", noisy_bmp(5, 3, 1));
  corpus.keep("pnm", "rgb", noisy_pnm(5, 3, 1));
  corpus.keep("pnm", "bits", as_bytes("P4\n# a comment\n11 2\n\xA5\x40\x5A\xE0"sv));
  corpus.keep("pnm", "wide_grey", as_bytes("P5 2 2 1000\n\0\1\3\xE8\3\xE9\xFF\xFF"sv));
  corpus.keep("pnm", "text_bits", as_bytes("P1\n5 2\n10110\n0 1 # two\n0 11\n"sv));
  corpus.keep("pnm", "text_grey", as_bytes("P2 3 2 300 0 1 2\n150 299 300"sv));
  corpus.keep("pnm", "text_rgb", as_bytes("P3\n2 1\n15\n0 7 15\t1 2 3\n"sv));
  TestGif gif{.width = 6, .height = 5, .palette = noisy_pixels(16, 1, 3, 1), .indices = {}};
  for (std::uint8_t i = 0; i < 30; ++i) gif.indices.push_back(i % 16);
  corpus.keep("gif", "whole", make_gif(gif));
  gif.interlaced = gif.own_palette = true;
  gif.left = 2, gif.top = 1, gif.screen_width = 9, gif.screen_height = 7, gif.transparent = 5;
  corpus.keep("gif", "interlaced", make_gif(gif));
}

/// A file of each compression, of strips or tiles.
void keep_tiffs(const Corpus& corpus) {
  const TestTiff small{.name = "none", .width = 6, .height = 5};
  const auto keep = [&](TestTiff tiff) { corpus.keep("tiff", tiff.name, make_test_tiff(tiff).bytes); };
  keep(small);
  for (const auto& [name, compression] :
       {std::pair{"lzw", 5}, {"jpeg", 7}, {"deflate", 8}, {"packbits", 32773}, {"zstd", 50000}}) {
    TestTiff tiff = small;
    tiff.name = name, tiff.compression = compression;
    if (compression == 7) tiff.photometric = 6, tiff.rows_per_strip = 16;
    keep(tiff);
    tiff.name += "_tiles", tiff.tile = 16;
    keep(tiff);
  }
  for (const auto& [name, compression] : {std::pair{"fax_runs", 2}, {"fax_3", 3}, {"fax_4", 4}}) {
    TestTiff tiff = small;
    tiff.name = name, tiff.compression = compression, tiff.photometric = 0, tiff.samples = tiff.bits = 1;
    keep(tiff);
  }
  keep({.name = "big_endian",
        .width = 5,
        .height = 4,
        .bits = 16,
        .compression = 5,
        .planar = 2,
        .predictor = 2,
        .mode = "wb8"});
  keep({.name = "palette", .width = 5, .height = 4, .photometric = 3, .samples = 1, .bits = 4});
  keep({.name = "cmyk", .width = 5, .height = 4, .photometric = 5, .samples = 4});
}

void keep_jpeg2000s(const Corpus& corpus) {
  const auto keep = [&](const TestJpeg2000& image) {
    corpus.keep("jpeg2000", image.name, make_test_jpeg2000(image).bytes);
  };
  keep({.name = "rgb", .width = 6, .height = 5, .resolutions = 2});
  keep({.name = "bare_grey", .width = 6, .height = 5, .components = 1, .bits = 12, .boxed = false, .resolutions = 2});
  keep({.name = "tiles",
        .width = 20,
        .height = 5,
        .lossy = true,
        .tile = 16,
        .resolutions = 3,
        .layers = 2,
        .progression = 2});
  keep({.name = "chroma", .width = 6, .height = 5, .resolutions = 2, .progression = 4, .precinct = 4, .chroma = 2});
}

void keep_avifs(const Corpus& corpus) {
  corpus.keep("avif", "lossless", make_test_avif({.width = 6, .height = 5}).bytes);
  corpus.keep("avif", "alpha",
              make_test_avif({.width = 6, .height = 5, .channels = 4, .bits = 10, .lossless = false}).bytes);
  corpus.keep("avif", "grey", make_test_avif({.width = 6, .height = 5, .grey = true}).bytes);
}

struct JpegSeed {
  TestJpeg jpeg;
  int width, height;
};

/// A file of each sampling, with and without restarts; one of the rarest symbols; and two of many segments, for the
/// decoder that takes many at once.
std::vector<JpegSeed> jpeg_seeds() {
  return {{{.name = "grey", .components = 1}, 21, 13},
          {{.name = "grey_factors", .components = 1, .horizontal = 2, .vertical = 2, .optimize = false}, 19, 9},
          {{.name = "444", .restart_rows = 1}, 17, 17},
          {{.name = "422", .horizontal = 2, .optimize = false}, 18, 16},
          {{.name = "420", .horizontal = 2, .vertical = 2}, 37, 21},
          {{.name = "440", .vertical = 2, .restart_interval = 2}, 20, 33},
          {{.name = "411", .horizontal = 4, .quality = 30}, 70, 12},
          {{.name = "long_symbols", .components = 1, .quality = 100}, 24, 24},
          {{.name = "restarts", .components = 1, .restart_interval = 1, .quality = 50}, 40, 48},
          {{.name = "segments", .components = 1, .quality = 5}, 120, 110}};
}

void keep_jpegs(const Corpus& corpus) {
  for (const auto& [jpeg, width, height] : jpeg_seeds()) {
    const TestImage image = make_test_image(width, height, jpeg.components);
    const std::vector<std::uint8_t> encoded = encode_test_jpeg(jpeg, image);
    corpus.keep("jpeg_planes", jpeg.name, encoded);
    corpus.keep("jpeg_walk", jpeg.name, encoded);

    EntryPoints points;
    JpegPlaneDecoder().find_entry_points(encoded, *parse_jpeg_header(encoded), points);
    std::vector<std::uint8_t> input = {static_cast<std::uint8_t>(points.size())};
    for (const EntryPoint& point : points) {
      append_little_endian(input, static_cast<std::uint32_t>(point.bit));
      for (const std::int16_t dc : point.dc) append_little_endian(input, static_cast<std::uint16_t>(dc));
    }
    input.insert(input.end(), encoded.begin(), encoded.end());
    corpus.keep("jpeg_entry_points", jpeg.name, input);

    input.clear();
    append_little_endian(input, static_cast<std::uint16_t>(points.size()));
    append_little_endian(input, static_cast<std::uint32_t>(encoded.size()));
    pack_entry_points(points, encoded.size(), input);
    corpus.keep("packed_entry_points", jpeg.name, input);

    // Two changes of what crosses to a device: in its tables, and in its segments or its data.
    input = {2};
    for (const std::uint32_t number : {400U, 0x1F00FFU, 2200U, 0x40000U}) append_little_endian(input, number);
    input.insert(input.end(), encoded.begin(), encoded.end());
    corpus.keep("jpeg_device", jpeg.name, input);
  }
}

}  // namespace

void keep_image_seeds(const Corpus& corpus) {
  keep_arrays(corpus);
  keep_boxes(corpus);
  keep_masks(corpus);
  keep_images(corpus);
  keep_tiffs(corpus);
  keep_jpeg2000s(corpus);
  keep_avifs(corpus);
  keep_jpegs(corpus);
}

}  // namespace stoker
