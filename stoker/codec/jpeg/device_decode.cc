#include "stoker/codec/jpeg/device_decode.h"

#include <algorithm>
#include <cassert>

namespace stoker {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

// A reader looks two words of 4 bytes ahead of a segment's end, and may begin a word before that.
std::size_t data_bytes(const JpegWindow& window) { return aligned(window.data.size() + 12); }

DeviceJpegSegment described(const JpegSegment& segment) {
  DeviceJpegSegment result{.bit = static_cast<std::uint32_t>(segment.bit),
                           .end_bit = static_cast<std::uint32_t>(segment.end_bit),
                           .dc = {},
                           .end_dc = {},
                           .column = static_cast<std::uint16_t>(segment.column),
                           .row = static_cast<std::uint16_t>(segment.row),
                           .mcus = static_cast<std::uint8_t>(segment.mcus),
                           .end = segment.end};
  std::copy(segment.dc.begin(), segment.dc.end(), result.dc);
  std::copy(segment.end_dc.begin(), segment.end_dc.end(), result.end_dc);
  return result;
}

DeviceJpegTables tables_of(const JpegHeader& header) {
  DeviceJpegTables tables{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(header.component_count); ++c) {
    const JpegComponent& component = header.components[c];
    tables.code[2 * c] = header.dc_codes[static_cast<std::size_t>(component.dc_code)];
    tables.code[2 * c + 1] = header.ac_codes[static_cast<std::size_t>(component.ac_code)];
    const QuantizationTable& table = header.quantization[static_cast<std::size_t>(component.quantization)];
    for (std::size_t k = 0; k < kZigzag.size(); ++k) {
      tables.quantization[c][k] = static_cast<std::int16_t>(table[kZigzag[k]]);
    }
  }
  std::copy(kZigzag.begin(), kZigzag.end(), tables.zigzag);
  return tables;
}

}  // namespace

std::size_t device_jpeg_bytes(const JpegWindow& window) {
  return aligned(sizeof(DeviceJpegTables)) + aligned(window.segments.size() * sizeof(DeviceJpegSegment)) +
         data_bytes(window);
}

namespace {

// The blocks of a component in the window.
std::size_t block_count(const JpegWindow& window, const JpegComponent& component) {
  return static_cast<std::size_t>(window.columns) * static_cast<std::size_t>(component.across) *
         static_cast<std::size_t>(window.rows) * static_cast<std::size_t>(component.down);
}

}  // namespace

std::size_t device_jpeg_coefficient_bytes(const JpegWindow& window) {
  std::size_t blocks = 0;
  for (int c = 0; c < window.header->component_count; ++c) {
    blocks += block_count(window, window.header->components[static_cast<std::size_t>(c)]);
  }
  return blocks * 64 * sizeof(std::int16_t);
}

DeviceJpegImage describe_for_device(const JpegWindow& window, const std::uint64_t (&samples)[3],
                                    std::uint64_t coefficients, std::uint8_t* to, std::uint64_t place) {
  assert(place % 8 == 0 && std::uint64_t{8} * window.data.size() <= UINT32_MAX);
  const JpegHeader& header = *window.header;
  DeviceJpegImage image{};
  image.first_column = window.first_column;
  image.first_row = window.first_row;
  image.columns = window.columns;
  image.rows = window.rows;
  image.component_count = header.component_count;
  image.data_bytes = static_cast<std::uint32_t>(window.data.size());
  for (const std::size_t bytes : window.plane_bytes) image.sample_bytes += static_cast<std::uint32_t>(bytes);
  image.coefficients = coefficients;
  for (int c = 0; c < header.component_count; ++c) {
    const JpegComponent& component = header.components[static_cast<std::size_t>(c)];
    image.component[c] = {
        .samples = samples[c],
        .row_stride = static_cast<std::int32_t>(window.planes.plane[static_cast<std::size_t>(c)].row_stride),
        .first = image.block_count,
        .across = static_cast<std::int8_t>(component.across),
        .down = static_cast<std::int8_t>(component.down),
        .side = static_cast<std::int8_t>(window.side[static_cast<std::size_t>(c)])};
    image.block_count += static_cast<std::int32_t>(block_count(window, component));
  }

  const DeviceJpegTables tables = tables_of(header);
  std::memcpy(to, &tables, sizeof(tables));
  image.tables = place;
  std::size_t at = aligned(sizeof(tables));

  image.segments = place + at;
  image.segment_count = static_cast<std::int32_t>(window.segments.size());
  for (const JpegSegment& segment : window.segments) {
    const DeviceJpegSegment copy = described(segment);
    std::memcpy(to + at, &copy, sizeof(copy));
    at += sizeof(copy);
  }
  at = aligned(at);

  image.data = place + at;
  std::memcpy(to + at, window.data.data(), window.data.size());
  std::memset(to + at + window.data.size(), 0, data_bytes(window) - window.data.size());
  return image;
}

}  // namespace stoker
