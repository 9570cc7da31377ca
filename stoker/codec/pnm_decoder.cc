#include "stoker/codec/pnm_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/tensor/pnm_header.h"

namespace stoker {
namespace {

constexpr int kByteMax = 255, kWordMax = 65'535;

template <typename... Args>
[[noreturn]] void refuse_pnm(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::kBadSample, "the PNM data cannot be decoded: {}", fmt::format(format, std::forward<Args>(args)...));
}

std::size_t samples_of_row(const PnmHeader& header) {
  return static_cast<std::size_t>(header.width) * static_cast<std::size_t>(header.channels());
}

std::size_t bytes_of_sample(const PnmHeader& header) { return header.value_max > kByteMax ? 2 : 1; }

/// Of samples as bytes.
std::size_t bytes_of_row(const PnmHeader& header) {
  return header.is_bits() ? (samples_of_row(header) + 7) / 8 : samples_of_row(header) * bytes_of_sample(header);
}

/// The header of a file that has room for its samples, which text has only at best: before anything is allocated.
PnmHeader read_roomy_header(Bytes encoded) {
  const PnmHeader header = read_pnm_header(encoded);
  const std::size_t left = encoded.size() - header.data;
  // A digit for each bit; or numbers, which white space separates, and which need none at the end.
  const bool numbers = header.is_text() && !header.is_bits();
  const std::size_t in_row = header.is_text() ? samples_of_row(header) * (numbers ? 2 : 1) : bytes_of_row(header);
  if (static_cast<std::size_t>(header.height) > (left + (numbers ? 1 : 0)) / in_row) {
    refuse_pnm("it is truncated: its {} x {} pixels do not fit in the {} bytes after its header", header.width,
               header.height, left);
  }
  return header;
}

/// In double, to the nearest and ties to even, as Pillow; values above the largest count as it.
class PnmScale {
 public:
  explicit PnmScale(const PnmHeader& header)
      : most_(header.value_max), wide_grey_(header.channels() == 1 && header.value_max > kByteMax) {}

  std::uint8_t operator()(std::uint64_t value) const {
    const int most = wide_grey_ ? kWordMax : kByteMax;
    const int scaled = std::min(most, static_cast<int>(std::lrint(static_cast<double>(value) / most_ * most)));
    return static_cast<std::uint8_t>(wide_grey_ ? scaled >> 8 : scaled);
  }

 private:
  double most_;
  bool wide_grey_;
};

std::uint8_t shade_of_bit(bool black) { return black ? 0 : kByteMax; }

std::uint16_t next_number(PnmText& text, const PnmHeader& header) {
  if (header.is_bits()) {
    const std::optional<std::uint8_t> digit = text.next_byte();
    if (!digit) refuse_pnm("it ends before its last pixel");
    if (*digit != '0' && *digit != '1') refuse_pnm("a pixel of it is neither 0 nor 1");
    return *digit == '1' ? 1 : 0;
  }
  const std::optional<std::uint64_t> number = text.next_number();
  if (!number && text.at_end()) refuse_pnm("it ends before its last pixel");
  if (!number || !text.at_break()) refuse_pnm("a value of a pixel is not a number");
  if (*number > static_cast<std::uint64_t>(header.value_max)) {
    refuse_pnm("a pixel has the value {}, above its largest of {}", *number, header.value_max);
  }
  return static_cast<std::uint16_t>(*number);
}

void read_text(Bytes encoded, const PnmHeader& header, Rect window, std::uint8_t* out) {
  PnmText text(encoded, header.data);
  const PnmScale scale(header);
  const auto in_row = static_cast<std::int64_t>(samples_of_row(header));
  const std::int64_t begin = std::int64_t{window.x} * header.channels();
  const std::int64_t end = begin + std::int64_t{window.width} * header.channels();
  for (int y = 0; y < header.height; ++y) {
    const bool shown = y >= window.y && y < window.y + window.height;
    for (std::int64_t i = 0; i < in_row; ++i) {
      const std::uint16_t number = next_number(text, header);
      if (shown && i >= begin && i < end) *out++ = header.is_bits() ? shade_of_bit(number == 1) : scale(number);
    }
  }
}

std::uint16_t number_at(const std::uint8_t* row, std::ptrdiff_t i, const PnmHeader& header) {
  if (header.is_bits()) return row[i / 8] >> (7 - i % 8) & 1;
  if (bytes_of_sample(header) == 1) return row[i];
  return static_cast<std::uint16_t>(row[2 * i] << 8 | row[2 * i + 1]);
}

/// From bytes that are not pixels as they lie.
void convert_row(const std::uint8_t* row, const PnmHeader& header, Rect window, std::uint8_t* out) {
  const PnmScale scale(header);
  const std::ptrdiff_t begin = std::ptrdiff_t{window.x} * header.channels();
  const std::ptrdiff_t end = begin + std::ptrdiff_t{window.width} * header.channels();
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const std::uint16_t number = number_at(row, i, header);
    *out++ = header.is_bits() ? shade_of_bit(number == 1) : scale(number);
  }
}

ImageView view_as_rgb(const std::uint8_t* samples, int width, int height, int channels) {
  ImageView view = interleaved_view(samples, width, height, channels);
  if (channels == 1) view.channel_stride = 0;  // a grey is all three colours
  view.channels = 3;
  return view;
}

}  // namespace

ImageFacts PnmDecoder::read_facts(Bytes encoded) {
  const PnmHeader header = read_roomy_header(encoded);
  return {.codec = Codec::kPnm,
          .width = header.width,
          .height = header.height,
          .components = header.channels(),
          .bits_per_component = header.is_bits()              ? 1
                                : header.value_max > kByteMax ? 16
                                                              : 8};
}

ImageView PnmDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const PnmHeader header = read_roomy_header(encoded);
  check_decode_request(facts, header.width, header.height, window);
  const std::uint8_t* const rows = encoded.data() + header.data;
  if (!header.is_text() && header.value_max == kByteMax) {
    return view_as_rgb(rows, header.width, header.height, header.channels()).crop(window);
  }
  const std::size_t out_bytes = static_cast<std::size_t>(window.width) * static_cast<std::size_t>(header.channels());
  std::uint8_t* const pixels = pixels_.bytes(out_bytes * static_cast<std::size_t>(window.height));
  if (header.is_text()) {
    read_text(encoded, header, window, pixels);
  } else {
    for (int y = 0; y < window.height; ++y) {
      const std::uint8_t* const row = rows + bytes_of_row(header) * static_cast<std::size_t>(window.y + y);
      convert_row(row, header, window, pixels + out_bytes * static_cast<std::size_t>(y));
    }
  }
  return view_as_rgb(pixels, window.width, window.height, header.channels());
}

MaskPixels PnmDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  const PnmHeader header = read_roomy_header(encoded);
  check_decode_request(facts, header.width, header.height, {0, 0, facts.width, facts.height});
  if (header.channels() != 1) refuse_colors_of_mask();
  const auto width = static_cast<std::size_t>(header.width), height = static_cast<std::size_t>(header.height);
  auto* const numbers = pixels_.array<std::uint16_t>(width * height);
  PnmText text(encoded, header.data);
  for (std::size_t y = 0; y < height; ++y) {
    std::uint16_t* const out = numbers + y * width;
    const std::uint8_t* const row = encoded.data() + header.data + (header.is_text() ? 0 : y * bytes_of_row(header));
    for (std::size_t x = 0; x < width; ++x) {
      out[x] = header.is_text() ? next_number(text, header) : number_at(row, static_cast<std::ptrdiff_t>(x), header);
    }
  }
  return {.width = header.width,
          .height = header.height,
          .bytes = 2,
          .numbers = reinterpret_cast<const std::uint8_t*>(numbers)};
}

}  // namespace stoker
