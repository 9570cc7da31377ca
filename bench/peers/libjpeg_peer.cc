// libjpeg-turbo decoding whole images to RGB, the usual way: alone (the unit of the comparison: decoding whole images
// is not faster than that), or with the whole transform after it in plain float32 code.
// Usage: bench_peer_libjpeg FOLDER decode|transform
#include <cmath>
#include <cstdio>
#include <string_view>

#include <jpeglib.h>

#include "bench/peers/peer.h"

namespace stoker {
namespace {

struct Rgb {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  const std::uint8_t* row(int y) const { return pixels.data() + std::size_t{3} * static_cast<std::size_t>(width * y); }
};

class Decoder {
 public:
  // Its errors end the program: a benchmark has no use for a broken image.
  Decoder() {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&jpeg_);
  }
  ~Decoder() { jpeg_destroy_decompress(&jpeg_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  void decode(Bytes encoded, Rgb& into) {
    jpeg_mem_src(&jpeg_, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg_, TRUE);
    jpeg_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    into.width = static_cast<int>(jpeg_.output_width);
    into.height = static_cast<int>(jpeg_.output_height);
    into.pixels.resize(std::size_t{3} * jpeg_.output_width * jpeg_.output_height);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = into.pixels.data() + std::size_t{3} * jpeg_.output_width * jpeg_.output_scanline;
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
  }

 private:
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
};

// The triangle filter, widened when it shrinks: for each output the first source sample it looks at, and the weights of
// those from there on. No tap looks beyond the source's `length` samples.
struct Taps {
  int count = 0;  // weights per output
  std::vector<int> first;
  std::vector<float> weights;

  void fill(int length) {
    const double scale = static_cast<double>(length) / kSide, support = std::max(1.0, scale);
    count = std::min(length, 2 * static_cast<int>(std::ceil(support)) + 1);
    first.assign(kSide, 0);
    weights.assign(static_cast<std::size_t>(kSide * count), 0);
    for (int o = 0; o < kSide; ++o) {
      const double centre = (o + 0.5) * scale;
      const int begin = std::clamp(static_cast<int>(std::floor(centre - support)), 0, length - count);
      float* to = weights.data() + o * count;
      double sum = 0;
      for (int k = 0; k < count; ++k) {
        const double weight = std::max(0.0, 1 - std::abs(begin + k + 0.5 - centre) / support);
        to[k] = static_cast<float>(weight);
        sum += weight;
      }
      for (int k = 0; k < count; ++k) to[k] /= static_cast<float>(sum);
      first[static_cast<std::size_t>(o)] = begin;
    }
  }
};

class PlainTransform {
 public:
  void run(const Rgb& image, const Box& box, const ColorMap& color, float* planes) {
    columns_.fill(box.width);
    rows_.fill(box.height);
    narrow_.resize(static_cast<std::size_t>(box.height) * kRow);
    for (int y = 0; y < box.height; ++y) {
      narrow(image.row(box.y + y) + 3 * box.x, narrow_.data() + static_cast<std::size_t>(y) * kRow);
    }
    for (int y = 0; y < kSide; ++y) {
      shorten(y);
      write(y, box.flip, color, planes);
    }
  }

 private:
  static constexpr std::size_t kRow = std::size_t{3} * kSide;

  void narrow(const std::uint8_t* from, float* to) const {
    for (int x = 0; x < kSide; ++x) {
      const std::uint8_t* pixel = from + 3 * columns_.first[static_cast<std::size_t>(x)];
      const float* weights = columns_.weights.data() + x * columns_.count;
      float r = 0, g = 0, b = 0;
      for (int k = 0; k < columns_.count; ++k, pixel += 3) {
        r += weights[k] * static_cast<float>(pixel[0]);
        g += weights[k] * static_cast<float>(pixel[1]);
        b += weights[k] * static_cast<float>(pixel[2]);
      }
      to[3 * x] = r;
      to[3 * x + 1] = g;
      to[3 * x + 2] = b;
    }
  }

  void shorten(int y) {
    std::fill(row_.begin(), row_.end(), 0.0F);
    for (int k = 0; k < rows_.count; ++k) {
      const float weight = rows_.weights[static_cast<std::size_t>(y * rows_.count + k)];
      const float* from =
          narrow_.data() + static_cast<std::size_t>(rows_.first[static_cast<std::size_t>(y)] + k) * kRow;
      for (std::size_t i = 0; i < kRow; ++i) row_[i] += weight * from[i];
    }
  }

  void write(int y, bool flip, const ColorMap& color, float* planes) const {
    for (int c = 0; c < 3; ++c) {
      const float scale = color.scale[static_cast<std::size_t>(c)], bias = color.bias[static_cast<std::size_t>(c)];
      float* to = planes + (c * kSide + y) * kSide;
      const float* from = row_.data() + c;
      if (flip) {
        for (int x = 0; x < kSide; ++x) to[x] = from[3 * (kSide - 1 - x)] * scale + bias;
      } else {
        for (int x = 0; x < kSide; ++x) to[x] = from[3 * x] * scale + bias;
      }
    }
  }

  Taps columns_, rows_;
  std::vector<float> narrow_;  // the box's rows, each already of kSide pixels
  std::vector<float> row_ = std::vector<float>(kRow);
};

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  using namespace stoker;
  if (argc != 3) return 2;
  const bool decode_only = std::string_view(argv[2]) == "decode";
  Decoder decoder;
  Rgb image;
  PlainTransform plain;
  return serve_images(argv[1], [&](Bytes encoded, const BoxOf& box_of, const ColorMap& color, float* planes) {
    decoder.decode(encoded, image);
    if (!decode_only) plain.run(image, box_of(image.width, image.height), color, planes);
  });
}
