#include "stoker/codec/tiff/tiff_decoder.h"

#include <algorithm>
#include <cstring>

#include "stoker/codec/cmyk.h"
#include "stoker/codec/tiff/tiff_file.h"

namespace stoker {
namespace {

std::size_t at(int number) { return static_cast<std::size_t>(number); }

/// The samples of `count` pixels from column x on, a byte each: whole numbers of less than 8 bits, the high byte of 16.
void take_samples(const TiffImage& image, const std::uint8_t* row, int x, int count, std::uint8_t* out) {
  const std::size_t first = at(x) * at(image.samples), number = at(count) * at(image.samples);
  if (image.bits == 8) {
    std::copy_n(row + first, number, out);
  } else if (image.bits == 16) {
    for (std::size_t i = 0; i < number; ++i) {
      std::uint16_t sample = 0;
      std::memcpy(&sample, row + 2 * (first + i), 2);
      out[i] = static_cast<std::uint8_t>(sample >> 8);
    }
  } else {
    const auto bits = static_cast<unsigned>(image.bits), mask = (1u << bits) - 1;
    for (std::size_t i = 0; i < number; ++i) {
      const std::size_t bit = (first + i) * bits;
      out[i] = static_cast<std::uint8_t>(unsigned{row[bit / 8]} >> (8 - bits - bit % 8) & mask);
    }
  }
}

std::uint8_t divided_by(unsigned alpha, unsigned color) {
  return static_cast<std::uint8_t>(alpha == 0 ? 0 : std::min(255u, color * 255 / alpha));
}

void put_greys(const TiffImage& image, const std::uint8_t* samples, int count, std::uint8_t* out) {
  const unsigned scale = image.bits < 8 ? 255u / ((1u << image.bits) - 1) : 1;
  const unsigned flip = image.colors == TiffColors::kWhiteIsZero ? 255 : 0;
  for (int i = 0; i < count; ++i, samples += image.samples) {
    auto grey = static_cast<std::uint8_t>(samples[0] * scale ^ flip);
    if (image.premultiplied) grey = divided_by(samples[1], grey);
    out = std::fill_n(out, 3, grey);
  }
}

void put_colors(const TiffImage& image, const std::uint8_t* samples, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i, samples += image.samples) {
    for (int c = 0; c < 3; ++c) *out++ = image.premultiplied ? divided_by(samples[3], samples[c]) : samples[c];
  }
}

void put_palette_colors(const TiffImage& image, const TiffPalette& palette, const std::uint8_t* samples, int count,
                        std::uint8_t* out) {
  for (int i = 0; i < count; ++i, samples += image.samples) out = std::copy_n(palette[*samples].begin(), 3, out);
}

void put_inks(const TiffImage& image, std::uint8_t* samples, int count, std::uint8_t* out) {
  std::uint8_t* to = samples;
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < 4; ++c) *to++ = static_cast<std::uint8_t>(255 - samples[at(i) * at(image.samples) + at(c)]);
  }
  inverted_cmyk_to_rgb_in_place(samples, at(count));
  std::copy_n(samples, 3 * at(count), out);
}

void put_rgb(const TiffImage& image, const TiffPalette& palette, std::uint8_t* samples, int count, std::uint8_t* out) {
  switch (image.colors) {
    case TiffColors::kWhiteIsZero:
    case TiffColors::kBlackIsZero: return put_greys(image, samples, count, out);
    case TiffColors::kPalette: return put_palette_colors(image, palette, samples, count, out);
    case TiffColors::kCmyk: return put_inks(image, samples, count, out);
    case TiffColors::kRgb:
    case TiffColors::kYcbcr: return put_colors(image, samples, count, out);
  }
}

int components_of(const TiffImage& image) {
  return image.colors == TiffColors::kPalette ? image.samples + 2 : image.samples;
}

}  // namespace

ImageFacts TiffDecoder::read_facts(Bytes encoded) {
  const TiffImage image = read_tiff(encoded);
  return {.codec = Codec::kTiff,
          .width = image.width,
          .height = image.height,
          .components = components_of(image),
          .bits_per_component = image.colors == TiffColors::kPalette ? 8 : image.bits,
          .orientation = image.orientation,
          .coding = image.jpeg_coding};
}

// The pixels of a segment whose samples stand in other segments each, into segment_.
void TiffDecoder::decode_planes_of(const TiffImage& image, int segment) {
  const std::size_t sample_bytes = at(image.bits) / 8;
  const std::size_t pixels = at(image.segment_width) * at(image.rows_of(segment));
  std::uint8_t* const plane = plane_.bytes(pixels * sample_bytes);
  std::uint8_t* const out = segment_.bytes(pixels * sample_bytes * at(image.samples));
  for (int sample = 0; sample < image.samples; ++sample) {
    codec_.decode(sample * image.across * image.down + segment, plane);
    std::uint8_t* to = out + at(sample) * sample_bytes;
    for (std::size_t i = 0; i < pixels; ++i, to += at(image.samples) * sample_bytes) {
      std::copy_n(plane + i * sample_bytes, sample_bytes, to);
    }
  }
}

template <typename Use>
void TiffDecoder::for_each_part_of_a_row(const TiffImage& image, Rect window, const Use& use) {
  const std::size_t row_bytes = image.row_bytes() * at(image.planes());
  codec_.open(image);
  for (int segment = 0; segment < image.across * image.down; ++segment) {
    if (image.separate_planes) {
      decode_planes_of(image, segment);
    } else {
      codec_.decode(segment, segment_.bytes(row_bytes * at(image.rows_of(segment))));
    }
    const int left = segment % image.across * image.segment_width, top = segment / image.across * image.segment_height;
    const int begin = std::max(left, window.x), end = std::min(left + image.segment_width, window.x + window.width);
    const int last = std::min(top + image.rows_of(segment), window.y + window.height);
    for (int y = std::max(top, window.y); y < last && begin < end; ++y) {
      use(segment_.bytes(0) + at(y - top) * row_bytes, begin - left, end - begin, begin - window.x, y - window.y);
    }
  }
  codec_.close();
}

ImageView TiffDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const TiffImage image = read_tiff(encoded);
  check_decode_request(facts, image.width, image.height, window);
  const TiffPalette palette = image.colors == TiffColors::kPalette ? image.palette() : TiffPalette{};
  const std::size_t out_bytes = 3 * at(window.width);
  std::uint8_t* const pixels = pixels_.bytes(out_bytes * at(window.height));
  std::uint8_t* const samples = samples_.bytes(at(image.segment_width) * at(image.samples));
  for_each_part_of_a_row(image, window, [&](const std::uint8_t* row, int from, int count, int x, int y) {
    take_samples(image, row, from, count, samples);
    put_rgb(image, palette, samples, count, pixels + at(y) * out_bytes + 3 * at(x));
  });
  return interleaved_view<const std::uint8_t>(pixels, window.width, window.height, 3);
}

MaskPixels TiffDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  const TiffImage image = read_tiff(encoded);
  const Rect whole{0, 0, facts.width, facts.height};
  check_decode_request(facts, image.width, image.height, whole);
  const bool inverted = image.colors == TiffColors::kWhiteIsZero;
  const bool is_grey = inverted || image.colors == TiffColors::kBlackIsZero;
  if (image.samples != 1 || !(is_grey || image.colors == TiffColors::kPalette)) refuse_colors_of_mask();
  const bool wide = image.bits == 16;
  const std::size_t row_bytes = at(facts.width) * (wide ? 2 : 1);
  std::uint8_t* const numbers = pixels_.bytes(row_bytes * at(facts.height));
  for_each_part_of_a_row(image, whole, [&](const std::uint8_t* row, int from, int count, int x, int y) {
    std::uint8_t* const out = numbers + at(y) * row_bytes;
    if (wide) {
      std::copy_n(row + 2 * at(from), 2 * at(count), out + 2 * at(x));
    } else {
      take_samples(image, row, from, count, out + x);
    }
  });
  if (inverted) {
    const auto all_bits = static_cast<std::uint8_t>(wide ? 0xFF : (1 << image.bits) - 1);  // of each byte
    std::transform(numbers, numbers + row_bytes * at(facts.height), numbers,
                   [&](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ all_bits); });
  }
  return {.width = facts.width, .height = facts.height, .bytes = wide ? 2 : 1, .numbers = numbers};
}

bool TiffDecoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>&) {
  decode_rgb(encoded, facts, {0, 0, facts.width, facts.height});
  return !codec_.has_concealed();
}

}  // namespace stoker
