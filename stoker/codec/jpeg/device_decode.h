// Decoding JPEGs on a device: a thread takes a segment of MCUs, as entry points say where it begins, from its bits to
// the samples of its blocks. What crosses are the bytes of the segments under the crop, and the tables of the file.
//
// A launch's arguments and DeviceJpegImage hold. What an image is made of (data, segments, tables) was sound when it
// left the host, yet nothing in it is trusted: whatever it says, only the image's own blocks are written, and only its
// own bytes read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/base/host_device.h"
#include "stoker/codec/jpeg/inverse_transform.h"
#include "stoker/codec/jpeg/plane_decoder.h"

namespace stoker {

struct DeviceJpegSegment {
  std::uint32_t bit, end_bit;  // of the image's data
  std::int16_t dc[3], end_dc[3];
  std::uint16_t column, row;  // of its first MCU
  std::uint8_t mcus;
  JpegSegment::End end;
};

struct DeviceJpegTables {
  HuffmanCode code[6];               // DC and AC of each component
  std::int16_t quantization[3][64];  // row by row
  std::uint8_t zigzag[64];           // the place, row by row, of the k-th coefficient
};

struct DeviceJpegImage {
  struct Component {
    std::uint64_t samples;  // the place of the window's first
    std::int32_t row_stride;
    std::int8_t across, down;  // blocks in an MCU
  };
  std::uint64_t data, segments, tables;    // places
  std::uint32_t data_bytes, sample_bytes;  // coded, and as the window's planes
  std::int32_t segment_count;
  std::int32_t first_block;
  std::int32_t first_column, first_row;  // the window's first MCU: nothing left of it is written
  std::int32_t columns, rows;            // of MCUs in the window
  std::int32_t component_count;
  Component component[3];
};

struct DeviceJpegKernel {
  struct Args {
    std::uint8_t* memory;           // of the batch
    const DeviceJpegImage* images;  // by first_block
    std::int32_t image_count;
    std::uint32_t* faults;  // by image: becomes 1 if it is not sound
  };
  static constexpr int kThreads = 128, kPhases = 3;
  static constexpr int kFirstBits = 9;
  /// The next kFirstBits bits say the length of the code and its symbol; 0: it is longer.
  struct Shared {
    std::uint16_t entries[6][1 << kFirstBits];
    std::uint32_t limits[6][17];       // by length: 16 bits from here on begin longer codes
    std::int32_t first_symbol[6][17];  // less the first code of that length
  };

  static int blocks(const DeviceJpegImage& image) { return (image.segment_count + kThreads - 1) / kThreads; }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared& shared, int block, int thread) {
    const int number = item_of_block(args.images, args.image_count, block);
    const DeviceJpegImage& image = args.images[number];
    const auto& tables = *reinterpret_cast<const DeviceJpegTables*>(args.memory + image.tables);
    if (kPhase == 0) {
      if (thread < 6) find_lengths(tables.code[thread], shared, thread);
    } else if (kPhase == 1) {
      for (int i = thread; i < 6 << kFirstBits; i += kThreads) {
        fill_entry(tables.code[i >> kFirstBits], shared, i >> kFirstBits, i & ((1 << kFirstBits) - 1));
      }
    } else {
      const int segment = (block - image.first_block) * kThreads + thread;
      if (segment >= image.segment_count) return;
      const auto* segments = reinterpret_cast<const DeviceJpegSegment*>(args.memory + image.segments);
      if (!decode(args, image, tables, shared, segments[segment])) args.faults[number] = 1;
    }
  }

 private:
  STOKER_HOST_DEVICE static void find_lengths(const HuffmanCode& code, Shared& shared, int table) {
    std::int32_t next = 0, symbols = 0;
    for (int length = 1; length <= 16; ++length) {
      shared.first_symbol[table][length] = symbols - next;
      next += code.counts[static_cast<std::size_t>(length - 1)];
      symbols += code.counts[static_cast<std::size_t>(length - 1)];
      shared.limits[table][length] = static_cast<std::uint32_t>(next) << (16 - length);
      next <<= 1;
    }
  }

  // The length of the code that 16 bits begin with, of `from` bits or more; 17: there is none.
  STOKER_HOST_DEVICE static int length_of(const Shared& shared, int table, std::uint32_t bits, int from) {
    int length = from;
    while (length <= 16 && bits >= shared.limits[table][length]) ++length;
    return length;
  }

  STOKER_HOST_DEVICE static std::uint32_t symbol_of(const HuffmanCode& code, const Shared& shared, int table,
                                                    std::uint32_t bits, int length) {
    const int number = shared.first_symbol[table][length] + static_cast<int>(bits >> (16 - length));
    return code.symbols[static_cast<std::size_t>(number & 255)];
  }

  STOKER_HOST_DEVICE static void fill_entry(const HuffmanCode& code, Shared& shared, int table, int prefix) {
    const std::uint32_t bits = static_cast<std::uint32_t>(prefix) << (16 - kFirstBits);
    const int length = length_of(shared, table, bits, 1);
    shared.entries[table][prefix] = length > kFirstBits
                                        ? std::uint16_t{0}
                                        : static_cast<std::uint16_t>(symbol_of(code, shared, table, bits, length) << 8 |
                                                                     static_cast<std::uint32_t>(length));
  }

  struct Symbol {
    bool good;
    int run, value;
    int size;  // of the value in bits
  };

  // A segment's bits on their way.
  struct BitReader {
    const std::uint8_t* data;
    std::uint32_t bit, end;

    // The next 32 bits. As many beyond the end may be read.
    STOKER_HOST_DEVICE std::uint32_t peek() const {
      const std::uint8_t* const from = data + bit / 32 * 4;
      const std::uint64_t both = std::uint64_t{load_word(from)} << 32 | load_word(from + 4);
      return static_cast<std::uint32_t>(both << bit % 32 >> 32);
    }
    STOKER_HOST_DEVICE static std::uint32_t load_word(const std::uint8_t* from) {
      std::uint32_t word;
      memcpy(&word, __builtin_assume_aligned(from, sizeof(word)), sizeof(word));
      return word << 24 | (word & 0xFF00) << 8 | (word >> 8 & 0xFF00) | word >> 24;
    }
  };

  STOKER_HOST_DEVICE static Symbol next_symbol(const HuffmanCode& code, const Shared& shared, int table,
                                               BitReader& reader) {
    const std::uint32_t bits = reader.peek();
    int length = shared.entries[table][bits >> (32 - kFirstBits)] & 255;
    std::uint32_t symbol = shared.entries[table][bits >> (32 - kFirstBits)] >> 8;
    if (length == 0) {
      length = length_of(shared, table, bits >> 16, kFirstBits + 1);
      if (length > 16) return {false, 0, 0, 0};
      symbol = symbol_of(code, shared, table, bits >> 16, length);
    }
    const int size = static_cast<int>(symbol & 15);
    reader.bit += static_cast<std::uint32_t>(length + size);
    int value = 0;
    if (size > 0) {
      value = static_cast<int>(bits << length >> (32 - size));
      if (value < 1 << (size - 1)) value -= (1 << size) - 1;
    }
    return {reader.bit <= reader.end, static_cast<int>(symbol >> 4), value, size};
  }

  STOKER_HOST_DEVICE static bool decode_block(const DeviceJpegTables& tables, const Shared& shared, int component,
                                              BitReader& reader, std::int16_t& dc, std::int16_t (&coefficients)[64]) {
    for (std::int16_t& coefficient : coefficients) coefficient = 0;
    const Symbol first = next_symbol(tables.code[2 * component], shared, 2 * component, reader);
    if (!first.good) return false;
    dc = InverseTransform::wrapped(dc + first.value);
    coefficients[0] = dc;
    for (int k = 1; k < 64; ++k) {
      const Symbol symbol = next_symbol(tables.code[2 * component + 1], shared, 2 * component + 1, reader);
      if (!symbol.good) return false;
      if (symbol.size == 0 && symbol.run < 15) return true;  // the rest are zeros
      k += symbol.run;
      if (k > 63) return false;
      coefficients[tables.zigzag[k] & 63] = static_cast<std::int16_t>(symbol.value);
    }
    return true;
  }

  /// Whether its bits are among the image's, and its blocks in the window or left of it.
  STOKER_HOST_DEVICE static bool is_within(const DeviceJpegImage& image, const DeviceJpegSegment& segment) {
    const int row = segment.row - image.first_row;
    return segment.bit <= segment.end_bit && segment.end_bit <= 8 * image.data_bytes && row >= 0 && row < image.rows &&
           segment.column - image.first_column + segment.mcus <= image.columns;
  }

  STOKER_HOST_DEVICE static bool decode(const Args& args, const DeviceJpegImage& image, const DeviceJpegTables& tables,
                                        const Shared& shared, const DeviceJpegSegment& segment) {
    using End = JpegSegment::End;
    if (!is_within(image, segment)) return false;
    BitReader reader{args.memory + image.data, segment.bit, segment.end_bit};
    std::int16_t dc[3] = {segment.dc[0], segment.dc[1], segment.dc[2]};
    std::int16_t coefficients[64];
    for (int mcu = 0; mcu < segment.mcus; ++mcu) {
      const int column = segment.column + mcu - image.first_column, row = segment.row - image.first_row;
      for (int c = 0; c < image.component_count; ++c) {
        const DeviceJpegImage::Component& component = image.component[c];
        for (int y = 0; y < component.down; ++y) {
          for (int x = 0; x < component.across; ++x) {
            if (!decode_block(tables, shared, c, reader, dc[c], coefficients)) return false;
            if (column < 0) continue;
            std::uint8_t* const to = args.memory + component.samples +
                                     std::int64_t{row * component.down + y} * 8 * component.row_stride +
                                     std::int64_t{column * component.across + x} * 8;
            InverseTransform::block(coefficients, 8, tables.quantization[c], to, component.row_stride);
          }
        }
      }
    }
    if (segment.end == End::kBefore) return true;
    if (segment.end == End::kWithinByte) return reader.end - reader.bit < 8;
    bool exact = reader.bit == reader.end;
    for (int c = 0; c < 3; ++c) exact = exact && dc[c] == segment.end_dc[c];
    return exact;
  }
};

/// Bytes that a window takes in the batch's memory before it is decoded.
std::size_t device_jpeg_bytes(const JpegWindow& window);

/// Describes it for the kernel, and writes its data to `to`, whose place is `place`, a multiple of 8. Samples will
/// stand at the places `samples`, as window.planes says.
DeviceJpegImage describe_for_device(const JpegWindow& window, const std::uint64_t (&samples)[3], std::uint8_t* to,
                                    std::uint64_t place);

}  // namespace stoker
