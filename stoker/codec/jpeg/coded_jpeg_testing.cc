#include "stoker/codec/jpeg/coded_jpeg_testing.h"

#include <bit>
#include <cstdlib>
#include <initializer_list>

namespace stoker {
namespace {

// The code of each symbol.
struct CodeWords {
  std::array<std::uint32_t, 256> word{};
  std::array<int, 256> bits{};

  explicit CodeWords(const HuffmanCode& code) {
    std::uint32_t next = 0;
    std::size_t symbol = 0;
    for (int length = 1; length <= 16; ++length, next <<= 1) {
      for (int i = 0; i < code.counts[static_cast<std::size_t>(length - 1)]; ++i, ++symbol) {
        word[code.symbols[symbol]] = next++;
        bits[code.symbols[symbol]] = length;
      }
    }
  }
};

class Writer {
 public:
  explicit Writer(const CodedJpeg& jpeg) : jpeg_(jpeg), dc_(jpeg.dc_code), ac_(jpeg.ac_code), bits_(out_) {}

  std::vector<std::uint8_t> write() {
    bytes({0xFF, 0xD8});
    quantization();
    frame();
    huffman_code(0x00, jpeg_.dc_code);
    huffman_code(0x10, jpeg_.ac_code);
    if (jpeg_.restart_interval > 0) {
      marker(0xDD, 2);
      word(jpeg_.restart_interval);
    }
    marker(0xDA, 4 + 2 * jpeg_.components);
    bytes({jpeg_.components});
    for (int c = 1; c <= jpeg_.components; ++c) bytes({c, 0});
    bytes({0, 63, 0});
    scan();
    bytes({0xFF, 0xD9});
    return std::move(out_);
  }

 private:
  void bytes(std::initializer_list<int> values) {
    for (const int value : values) out_.push_back(static_cast<std::uint8_t>(value));
  }
  void word(int value) { bytes({value >> 8, value & 255}); }
  void marker(int number, int content_bytes) {
    bytes({0xFF, number});
    word(2 + content_bytes);
  }

  void quantization() {
    marker(0xDB, 1 + 2 * 64);
    bytes({0x10});
    for (const std::uint8_t place : kZigzag) word(jpeg_.quantization[place]);
  }

  void frame() {
    marker(0xC0, 6 + 3 * jpeg_.components);
    bytes({8});
    word(jpeg_.height);
    word(jpeg_.width);
    bytes({jpeg_.components});
    for (int c = 1; c <= jpeg_.components; ++c) bytes({c, c == 1 ? jpeg_.across * 16 + jpeg_.down : 0x11, 0});
  }

  void huffman_code(int what, const HuffmanCode& code) {
    marker(0xC4, 17 + code.size());
    bytes({what});
    out_.insert(out_.end(), code.counts.begin(), code.counts.end());
    out_.insert(out_.end(), code.symbols.begin(), code.symbols.begin() + code.size());
  }

  void scan() {
    const int luma = jpeg_.components == 1 ? 1 : jpeg_.across * jpeg_.down;
    const int blocks = luma + jpeg_.components - 1;
    std::array<int, 3> dc{};
    int mcu = 0, number = 0;
    for (const std::array<int, 64>& coefficients : jpeg_.blocks) {
      if (number == 0 && mcu > 0 && jpeg_.restart_interval > 0 && mcu % jpeg_.restart_interval == 0) {
        bits_.fill_byte();
        bytes({0xFF, 0xD0 + (mcu / jpeg_.restart_interval - 1) % 8});
        dc = {};
      }
      int& before = dc[static_cast<std::size_t>(number < luma ? 0 : number - luma + 1)];
      symbol(dc_, 0, coefficients[0] - before);
      before = coefficients[0];
      ac(coefficients);
      if (++number == blocks) number = 0, ++mcu;
    }
    bits_.fill_byte();
  }

  void ac(const std::array<int, 64>& coefficients) {
    int run = 0;
    for (std::size_t k = 1; k < 64; ++k) {
      if (coefficients[k] == 0) {
        ++run;
        continue;
      }
      for (; run > 15; run -= 16) symbol(ac_, 0xF0, 0);
      symbol(ac_, run << 4, coefficients[k]);
      run = 0;
    }
    if (run > 0) symbol(ac_, 0, 0);
  }

  // `upper`, the upper half of an AC symbol, is kept.
  void symbol(const CodeWords& words, int upper, int value) {
    const int bits = std::bit_width(static_cast<unsigned>(std::abs(value)));
    const auto symbol = static_cast<std::size_t>(upper | bits);
    bits_.put(words.word[symbol], words.bits[symbol]);
    bits_.put(static_cast<std::uint32_t>(value < 0 ? value - 1 : value), bits);
  }

  const CodedJpeg& jpeg_;
  const CodeWords dc_, ac_;
  std::vector<std::uint8_t> out_;
  ScanBitWriter bits_;
};

}  // namespace

HuffmanCode even_code(int count) {
  // No code may be of ones alone.
  const int length = std::bit_width(static_cast<unsigned>(count));
  HuffmanCode code;
  if (count < 256) {
    code.counts[static_cast<std::size_t>(length - 1)] = static_cast<std::uint8_t>(count);
  } else {
    code.counts[7] = 255;
    code.counts[8] = 1;
  }
  for (int i = 0; i < count; ++i) code.symbols[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  return code;
}

void ScanBitWriter::put(std::uint32_t value, int bits) {
  held_ = held_ << bits | (value & ((std::uint64_t{1} << bits) - 1));
  held_bits_ += bits;
  for (; held_bits_ >= 8; held_bits_ -= 8) {
    out_.push_back(static_cast<std::uint8_t>(held_ >> (held_bits_ - 8)));
    if (out_.back() == 0xFF) out_.push_back(0);
  }
}

void ScanBitWriter::fill_byte() {
  if (held_bits_ > 0) put(0xFF, 8 - held_bits_);
}

int CodedJpeg::block_count() const {
  const auto mcus = [](int pixels, int mcu) { return (pixels + mcu - 1) / mcu; };
  if (components == 1) return mcus(width, 8) * mcus(height, 8);
  return mcus(width, 8 * across) * mcus(height, 8 * down) * (across * down + 2);
}

std::vector<std::uint8_t> CodedJpeg::write() const { return Writer(*this).write(); }

}  // namespace stoker
