#include "stoker/codec/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kAlignment = 64;

[[noreturn]] void refuse(std::string_view why) {
  fail(ErrorKind::kBadSample, "the npy array is not an image: {}", why);
}

/// What follows "'key':" in the header's dictionary, up to where the value ends.
std::string_view value_of(std::string_view header, std::string_view key, char end) {
  const std::string quoted = fmt::format("'{}'", key);
  std::size_t begin = header.find(quoted);
  if (begin == std::string_view::npos) refuse(fmt::format("its header has no {}", quoted));
  begin = header.find_first_not_of(" :", begin + quoted.size());
  const std::size_t stop = begin == std::string_view::npos ? begin : header.find(end, begin);
  if (stop == std::string_view::npos) refuse("its header is damaged");
  return header.substr(begin, stop - begin);
}

std::vector<std::int64_t> read_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (!text.starts_with('(')) refuse("its header is damaged");
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 1 || extent > std::numeric_limits<int>::max()) refuse("its shape is unusual");
    shape.push_back(extent);
    at = static_cast<std::size_t>(end - text.data());
  }
  return shape;
}

}  // namespace

bool has_npy_magic(Bytes encoded) { return as_text(encoded).starts_with(kMagic); }

NpyPixels read_npy_header(Bytes encoded) {
  if (!has_npy_magic(encoded) || encoded.size() < 12) refuse("its header is cut short");
  const bool short_header = encoded[6] == 1;
  const std::size_t begin = short_header ? 10 : 12;
  const std::size_t length = short_header ? load_little_endian<std::uint16_t>(encoded.data() + 8)
                                          : load_little_endian<std::uint32_t>(encoded.data() + 8);
  if (encoded[6] < 1 || encoded[6] > 3 || length > encoded.size() - begin) refuse("its header is cut short");
  const std::string_view header = as_text(encoded).substr(begin, length);

  const std::string_view type = value_of(header, "descr", ',');
  if (type != "'|u1'" && type != "'u1'") refuse(fmt::format("its numbers are of type {}, not uint8", type));
  if (value_of(header, "fortran_order", ',') != "False") refuse("it is stored column by column");
  const std::vector<std::int64_t> shape = read_shape(value_of(header, "shape", ')'));
  if (shape.size() != 2 && shape.size() != 3) refuse("it is not height x width x channels");
  const NpyPixels pixels{.width = static_cast<int>(shape[1]),
                         .height = static_cast<int>(shape[0]),
                         .channels = shape.size() == 3 ? static_cast<int>(shape[2]) : 1,
                         .data_offset = begin + length};
  if (pixels.channels != 1 && pixels.channels != 3 && pixels.channels != 4) {
    refuse(fmt::format("it has {}; only 1, 3 and 4 are supported", counted(pixels.channels, "channel")));
  }
  // Two extents below 2^31 and 4 channels stay below 2^64.
  const std::uint64_t expected = static_cast<std::uint64_t>(shape[0]) * static_cast<std::uint64_t>(shape[1]) *
                                 static_cast<std::uint64_t>(pixels.channels);
  if (encoded.size() - pixels.data_offset != expected) {
    refuse(fmt::format("its shape needs {}, but it has {}", byte_count(expected), encoded.size() - pixels.data_offset));
  }
  return pixels;
}

void encode_npy(ImageView image, std::vector<std::uint8_t>& out) {
  std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}, {}), }}", image.height,
                                   image.width, image.channels);
  const std::size_t head = kMagic.size() + 4;  // magic, version, length of the header
  header.append((kAlignment - (head + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  out.assign(kMagic.begin(), kMagic.end());
  out.push_back(1);
  out.push_back(0);
  append_little_endian(out, static_cast<std::uint16_t>(header.size()));
  out.insert(out.end(), header.begin(), header.end());

  const auto row_bytes = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  out.reserve(out.size() + row_bytes * static_cast<std::size_t>(image.height));
  for (int y = 0; y < image.height; ++y) {
    if (image.interleaved()) {
      out.insert(out.end(), image.at(0, y), image.at(0, y) + row_bytes);
      continue;
    }
    for (int x = 0; x < image.width; ++x) {
      for (int channel = 0; channel < image.channels; ++channel) out.push_back(*image.at(x, y, channel));
    }
  }
}

}  // namespace stoker
