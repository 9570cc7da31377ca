#include "stoker/codec/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kAlignment = 64;

[[noreturn]] void refuse(std::string_view why) {
  fail(ErrorKind::kBadSample, "the npy array is not an image: {}", why);
}

}  // namespace

NpyPixels read_npy_header(Bytes encoded) {
  NpyHeader header;
  try {
    header = parse_npy_header(encoded);
  } catch (const Error& error) {
    refuse(error.message());
  }
  if (header.type != "'|u1'" && header.type != "'u1'") {
    refuse(fmt::format("its numbers are of type {}, not uint8", header.type));
  }
  if (header.is_column_major) refuse("it is stored column by column");
  const std::vector<std::int64_t>& shape = header.shape;
  const auto is_unusual = [](std::int64_t extent) { return extent < 1 || extent > std::numeric_limits<int>::max(); };
  if (std::any_of(shape.begin(), shape.end(), is_unusual)) refuse("its shape is unusual");
  if (shape.size() != 2 && shape.size() != 3) refuse("it is not height x width x channels");
  const NpyPixels pixels{.width = static_cast<int>(shape[1]),
                         .height = static_cast<int>(shape[0]),
                         .channels = shape.size() == 3 ? static_cast<int>(shape[2]) : 1,
                         .data_offset = header.bytes};
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
