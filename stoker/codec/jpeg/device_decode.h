// Decoding JPEGs on a device, in two launches. In the first a thread takes a segment of MCUs, as entry points say where
// it begins, from its bits to coefficients: the part that cannot be divided further, and so has nothing else to do. In
// the second eight threads take a block, from its coefficients to samples. What crosses are the bytes of the segments
// under the crop, and the tables of the file.
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
  std::int16_t quantization[3][64];  // by coefficient in coded order, and so
  std::uint8_t zigzag[64];           // its place in the block, row by row
};

struct DeviceJpegImage {
  struct Component {
    std::uint64_t samples;  // the place of the window's first, in scratch memory
    std::int32_t row_stride;
    std::int32_t first;        // of the image's blocks, row by row
    std::int8_t across, down;  // blocks in an MCU
    std::int8_t side;          // samples of a block: 8, 4, 2 or 1
  };
  std::uint64_t data, segments, tables;    // places
  std::uint64_t coefficients;              // the place in scratch memory: 64 of a block, in coded order
  std::uint32_t data_bytes, sample_bytes;  // coded, and as the window's planes
  std::int32_t segment_count, block_count;
  std::int32_t first_block, first_transform_block;  // of the two launches
  std::int32_t first_column, first_row;             // the window's first MCU: nothing left of it is written
  std::int32_t columns, rows;                       // of MCUs in the window
  std::int32_t component_count;
  Component component[3];
};

/// What both launches are given.
struct DeviceJpegArgs {
  const std::uint8_t* memory;     // of the batch
  std::uint8_t* scratch;          // for coefficients and samples
  const DeviceJpegImage* images;  // by first_block, and by first_transform_block
  std::int32_t image_count;
  std::uint32_t* faults;  // by image: becomes 1 if it is not sound
};

/// From bits to coefficients.
struct DeviceJpegKernel {
  using Args = DeviceJpegArgs;
  // Few, so that the segments of few images have many processors.
  static constexpr int kThreads = 64, kPhases = 3;
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

  // A segment's bits on their way. As many as two words beyond its last one may be read.
  class BitReader {
   public:
    STOKER_HOST_DEVICE BitReader(const std::uint8_t* data, std::uint32_t bit, std::uint32_t end)
        : next_(data + bit / 32 * 4), bit_(bit), end_(end), count_(static_cast<int>(64 - bit % 32)) {
      ahead_ = (std::uint64_t{load_word()} << 32 | load_next_word()) << bit % 32;
    }

    /// The next 32 bits.
    STOKER_HOST_DEVICE std::uint32_t peek() const { return static_cast<std::uint32_t>(ahead_ >> 32); }
    /// At most 31. Whether there were as many.
    STOKER_HOST_DEVICE bool skip(int bits) {
      bit_ += static_cast<std::uint32_t>(bits);
      if (bit_ > end_) return false;
      ahead_ <<= bits;
      count_ -= bits;
      if (count_ < 32) {
        ahead_ |= std::uint64_t{load_next_word()} << (32 - count_);
        count_ += 32;
      }
      return true;
    }
    /// How many are left.
    STOKER_HOST_DEVICE std::uint32_t left() const { return end_ - bit_; }

   private:
    STOKER_HOST_DEVICE std::uint32_t load_next_word() {
      next_ += 4;
      return load_word();
    }
    STOKER_HOST_DEVICE std::uint32_t load_word() const {
      std::uint32_t word;
      memcpy(&word, __builtin_assume_aligned(next_, sizeof(word)), sizeof(word));
#ifdef __CUDA_ARCH__
      return __byte_perm(word, 0, 0x0123);
#else
      return __builtin_bswap32(word);
#endif
    }

    const std::uint8_t* next_;  // the word that was loaded last
    std::uint32_t bit_, end_;   // of the image's data
    std::uint64_t ahead_;       // the next ones from its highest bit on, of which
    int count_;                 // are there; 32 or more
  };

  STOKER_HOST_DEVICE static Symbol next_symbol(const HuffmanCode& code, const Shared& shared, int table,
                                               BitReader& reader) {
    const std::uint32_t bits = reader.peek();
    const std::uint32_t entry = shared.entries[table][bits >> (32 - kFirstBits)];
    int length = static_cast<int>(entry & 255);
    std::uint32_t symbol = entry >> 8;
    if (length == 0) {
      length = length_of(shared, table, bits >> 16, kFirstBits + 1);
      if (length > 16) return {false, 0, 0, 0};
      symbol = symbol_of(code, shared, table, bits >> 16, length);
    }
    const int size = static_cast<int>(symbol & 15);
    int value = 0;
    if (size > 0) {
      value = static_cast<int>(bits << length >> (32 - size));
      if (value < 1 << (size - 1)) value -= (1 << size) - 1;
    }
    return {reader.skip(length + size), static_cast<int>(symbol >> 4), value, size};
  }

  /// Writes to `to`, unless that is null: all 64.
  STOKER_HOST_DEVICE static bool decode_block(const DeviceJpegTables& tables, const Shared& shared, int component,
                                              BitReader& reader, std::int16_t& dc, std::int16_t* to) {
    if (to) clear(to);
    const Symbol first = next_symbol(tables.code[2 * component], shared, 2 * component, reader);
    if (!first.good) return false;
    dc = InverseTransform::wrapped(dc + first.value);
    if (to) to[0] = dc;
    for (int k = 1; k < 64; ++k) {
      const Symbol symbol = next_symbol(tables.code[2 * component + 1], shared, 2 * component + 1, reader);
      if (!symbol.good) return false;
      if (symbol.size == 0 && symbol.run < 15) return true;  // the rest are zeros
      k += symbol.run;
      if (k > 63) return false;
      if (to) to[k] = static_cast<std::int16_t>(symbol.value);
    }
    return true;
  }

  STOKER_HOST_DEVICE static void clear(std::int16_t* to) {
    alignas(16) const std::int16_t zeros[8] = {};
    auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
    for (int i = 0; i < 128; i += 16) memcpy(__builtin_assume_aligned(bytes + i, 16), zeros, 16);
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
    BitReader reader(args.memory + image.data, segment.bit, segment.end_bit);
    std::int16_t dc[3] = {segment.dc[0], segment.dc[1], segment.dc[2]};
    auto* const coefficients = reinterpret_cast<std::int16_t*>(args.scratch + image.coefficients);
    for (int mcu = 0; mcu < segment.mcus; ++mcu) {
      const int column = segment.column + mcu - image.first_column, row = segment.row - image.first_row;
      for (int c = 0; c < image.component_count; ++c) {
        const DeviceJpegImage::Component& component = image.component[c];
        for (int y = 0; y < component.down; ++y) {
          for (int x = 0; x < component.across; ++x) {
            const int number = component.first + (row * component.down + y) * (image.columns * component.across) +
                               column * component.across + x;
            std::int16_t* const to = column < 0 ? nullptr : coefficients + std::int64_t{number} * 64;
            if (!decode_block(tables, shared, c, reader, dc[c], to)) return false;
          }
        }
      }
    }
    if (segment.end == End::kBefore) return true;
    if (segment.end == End::kWithinByte) return reader.left() < 8;
    bool exact = reader.left() == 0;
    for (int c = 0; c < 3; ++c) exact = exact && dc[c] == segment.end_dc[c];
    return exact;
  }
};

/// From coefficients to samples.
struct DeviceJpegTransformKernel {
  using Args = DeviceJpegArgs;
  static constexpr int kThreads = 128, kPhases = 3, kBlocks = kThreads / 8;
  struct Shared {
    // Rows of a block lie together; blocks lie so far apart that columns of several are in different banks.
    alignas(16) std::int16_t value[kBlocks][64 + 8];
    bool beyond_first_row[kBlocks][8];  // of the coefficients that a thread has seen, one is not 0
    std::int32_t exact[kBlocks][2];     // InverseTransform::reduced_column
  };

  static int blocks(const DeviceJpegImage& image) { return (image.block_count + kBlocks - 1) / kBlocks; }

  template <int kPhase>
  STOKER_HOST_DEVICE static void run(const Args& args, Shared& shared, int block, int thread) {
    const int number = item_of_block<&DeviceJpegImage::first_transform_block>(args.images, args.image_count, block);
    const DeviceJpegImage& image = args.images[number];
    const int of_block = thread / 8, lane = thread % 8;
    const int jpeg_block = (block - image.first_transform_block) * kBlocks + of_block;
    if (jpeg_block >= image.block_count) return;
    std::int16_t* const values = shared.value[of_block];
    bool(&beyond)[8] = shared.beyond_first_row[of_block];
    int c = 0;
    while (c + 1 < image.component_count && jpeg_block >= image.component[c + 1].first) ++c;
    const DeviceJpegImage::Component& component = image.component[c];
    if (kPhase == 0) {
      const auto& tables = *reinterpret_cast<const DeviceJpegTables*>(args.memory + image.tables);
      beyond[lane] = dequantize(args.scratch + image.coefficients + (std::int64_t{jpeg_block} * 64 + lane * 8) * 2,
                                tables.quantization[c] + lane * 8, tables.zigzag + lane * 8, component.side, values);
    } else if (kPhase == 1) {
      bool first_row_only = true;
      for (const bool any : beyond) first_row_only = first_row_only && !any;
      std::int16_t column[8];
      for (int i = 0; i < 8; ++i) column[i] = values[8 * i + lane];
      if (component.side == 8) {
        InverseTransform::column(column, 1, first_row_only);
      } else {
        InverseTransform::reduced_column(column, 1, component.side, first_row_only,
                                         lane == 0 ? shared.exact[of_block] : nullptr);
      }
      for (int i = 0; i < 8; ++i) values[8 * i + lane] = column[i];
    } else {
      if (lane >= component.side) return;
      const int across = image.columns * component.across, at = jpeg_block - component.first;
      std::uint8_t* const to = args.scratch + component.samples +
                               std::int64_t{at / across * component.side + lane} * component.row_stride +
                               std::int64_t{at % across} * component.side;
      std::int16_t row[8];
      for (int i = 0; i < 8; ++i) row[i] = values[8 * lane + i];
      alignas(8) std::uint8_t samples[8];
      if (component.side == 8) {
        InverseTransform::row(row, samples);
        memcpy(__builtin_assume_aligned(to, sizeof(samples)), samples, sizeof(samples));
      } else {
        InverseTransform::reduced_row(row, component.side, shared.exact[of_block][lane % 2], samples);
        for (int i = 0; i < component.side; ++i) to[i] = samples[i];
      }
    }
  }

 private:
  /// Eight coefficients in coded order, to their places in a block. Whether one that is not 0 lies beyond its first
  /// row, in rows that have a part in blocks of `side` samples.
  STOKER_HOST_DEVICE static bool dequantize(const std::uint8_t* from, const std::int16_t* quantization,
                                            const std::uint8_t* zigzag, int side, std::int16_t* values) {
    alignas(16) std::int16_t coefficient[8];
    memcpy(coefficient, __builtin_assume_aligned(from, sizeof(coefficient)), sizeof(coefficient));
    bool any = false;
    for (int i = 0; i < 8; ++i) {
      const int place = zigzag[i] & 63;
      values[place] = InverseTransform::wrapped(coefficient[i] * quantization[i]);
      any = any || (coefficient[i] != 0 && place >= 8 && (side == 8 || place / 8 != 4));
    }
    return any;
  }
};

/// Bytes that a window takes in the batch's memory before it is decoded.
std::size_t device_jpeg_bytes(const JpegWindow& window);

/// Bytes that its coefficients take in scratch memory.
std::size_t device_jpeg_coefficient_bytes(const JpegWindow& window);

/// Describes it for the kernels, and writes its data to `to`, whose place is `place`, a multiple of 8. In scratch
/// memory samples will stand at the places `samples`, as window.planes says, and coefficients at `coefficients`, a
/// multiple of 16.
DeviceJpegImage describe_for_device(const JpegWindow& window, const std::uint64_t (&samples)[3],
                                    std::uint64_t coefficients, std::uint8_t* to, std::uint64_t place);

}  // namespace stoker
