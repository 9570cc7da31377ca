#include "stoker/codec/jpeg/header.h"

#include <algorithm>
#include <numeric>

#include "stoker/codec/exif.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

constexpr int kSideMax = 65'500;  // libjpeg's

// Component numbers that stand for colours where no other marker says what the components are.
constexpr int kLetters[] = {'R', 'G', 'B'};

// Reads what lies in a segment; past its end come zeros, and `good` tells.
class SegmentReader {
 public:
  explicit SegmentReader(Bytes bytes) : rest_(bytes) {}

  int byte() {
    if (rest_.empty()) {
      good_ = false;
      return 0;
    }
    const int value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  int word() {
    const int high = byte();
    return high << 8 | byte();
  }
  Bytes bytes(std::size_t count) {
    good_ = good_ && count <= rest_.size();
    const Bytes taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  bool at_end() const { return rest_.empty(); }
  bool good() const { return good_; }

 private:
  Bytes rest_;
  bool good_ = true;
};

// Whether the counts make a code. Some room is always left, since no code may be of ones alone: that stands for
// filling.
bool makes_a_code(const HuffmanCode& code) {
  int room = 1;
  for (const std::uint8_t count : code.counts) {
    room = 2 * room - count;
    if (room < 1) return false;
  }
  return code.size() <= 256;
}

class HeaderParser {
 public:
  explicit HeaderParser(Bytes encoded) : encoded_(encoded) {}

  bool parse() {
    if (encoded_.size() < 4 || encoded_[0] != 0xFF || encoded_[1] != kStartOfImage) return false;
    std::size_t at = 2;
    for (;;) {
      if (encoded_.size() - at < 4 || encoded_[at] != 0xFF) return false;
      const std::uint8_t marker = encoded_[at + 1];
      if (marker == 0xFF) {  // filling
        ++at;
        continue;
      }
      const std::size_t length = std::size_t{encoded_[at + 2]} << 8 | encoded_[at + 3];  // counts its own two bytes
      if (length < 2 || length > encoded_.size() - at - 2) return false;
      SegmentReader segment(encoded_.subspan(at + 4, length - 2));
      at += 2 + length;
      if (marker == kStartOfScan) {
        header.scan_begin = at;
        return scan(segment) && is_supported();
      }
      if (!read(marker, segment)) return false;
    }
  }

  JpegHeader header;

 private:
  bool read(std::uint8_t marker, SegmentReader& segment) {
    switch (marker) {
      case kBaselineFrame:
      case kExtendedFrame: return frame(segment);
      case kHuffmanCodes: return huffman_codes(segment);
      case kQuantizationTables: return quantization_tables(segment);
      case kRestartInterval: header.restart_interval = segment.word(); return segment.good() && segment.at_end();
      case kApp0: {
        const Bytes content = segment.bytes(14);
        if (!segment.good() || !as_text(content).starts_with(std::string_view("JFIF\0", 5))) return true;
        jfif_ = true;
        return content[5] == 1;  // of another version libjpeg warns
      }
      case kApp14: {
        const Bytes content = segment.bytes(12);
        if (!segment.good() || !as_text(content).starts_with("Adobe")) return true;
        adobe_transform_ = content[11];
        return true;
      }
      default: return marker == kComment || (marker >= kApp0 && marker <= kApp15);
    }
  }

  bool frame(SegmentReader& segment) {
    if (header.component_count != 0 || segment.byte() != 8) return false;
    header.height = segment.word();
    header.width = segment.word();
    header.component_count = segment.byte();
    if (header.component_count != 1 && header.component_count != 3) return false;
    for (int i = 0; i < header.component_count; ++i) {
      JpegComponent& component = header.components[static_cast<std::size_t>(i)];
      ids_[i] = segment.byte();
      const int sampling = segment.byte();
      component.across = sampling >> 4;
      component.down = sampling & 15;
      component.quantization = segment.byte();
    }
    return segment.good() && segment.at_end();
  }

  bool huffman_codes(SegmentReader& segment) {
    while (!segment.at_end()) {
      const int what = segment.byte();
      const int number = what & 15;
      if (number > 3 || what >> 4 > 1) return false;
      HuffmanCode code;
      const Bytes counts = segment.bytes(code.counts.size());
      std::copy(counts.begin(), counts.end(), code.counts.begin());
      if (!segment.good() || !makes_a_code(code)) return false;
      const Bytes symbols = segment.bytes(static_cast<std::size_t>(code.size()));
      std::copy(symbols.begin(), symbols.end(), code.symbols.begin());
      (what >> 4 ? header.ac_codes : header.dc_codes)[static_cast<std::size_t>(number)] = code;
    }
    return segment.good();
  }

  bool quantization_tables(SegmentReader& segment) {
    while (!segment.at_end()) {
      const int what = segment.byte();
      const auto number = static_cast<std::size_t>(what & 15);
      if (number > 3 || what >> 4 > 1) return false;
      for (const std::uint8_t place : kZigzag) {
        header.quantization[number][place] = static_cast<std::uint16_t>(what >> 4 ? segment.word() : segment.byte());
      }
      quantization_seen_[number] = true;
    }
    return segment.good();
  }

  bool scan(SegmentReader& segment) {
    if (header.component_count == 0 || segment.byte() != header.component_count) return false;
    for (int i = 0; i < header.component_count; ++i) {
      if (segment.byte() != ids_[i]) return false;
      const int codes = segment.byte();
      header.components[static_cast<std::size_t>(i)].dc_code = codes >> 4;
      header.components[static_cast<std::size_t>(i)].ac_code = codes & 15;
    }
    const bool all_coefficients = segment.byte() == 0 && segment.byte() == 63 && segment.byte() == 0;
    return segment.good() && segment.at_end() && all_coefficients;
  }

  bool is_supported() {
    if (header.width < 1 || header.height < 1 || header.width > kSideMax || header.height > kSideMax) return false;
    for (int i = 0; i < header.component_count; ++i) {
      const JpegComponent& component = header.components[static_cast<std::size_t>(i)];
      if (component.quantization > 3 || !quantization_seen_[component.quantization]) return false;
      if (component.dc_code > 3 || component.ac_code > 3) return false;
      const HuffmanCode& dc = header.dc_codes[static_cast<std::size_t>(component.dc_code)];
      const HuffmanCode& ac = header.ac_codes[static_cast<std::size_t>(component.ac_code)];
      if (dc.size() == 0 || ac.size() == 0) return false;
      if (std::any_of(dc.symbols.begin(), dc.symbols.begin() + dc.size(), [](int symbol) { return symbol > 15; }))
        return false;
    }
    return is_ycbcr_or_grey() && resolve_sampling();
  }

  // As libjpeg concludes it.
  bool is_ycbcr_or_grey() const {
    if (header.component_count == 1) return true;
    if (ids_[0] == ids_[1] || ids_[0] == ids_[2] || ids_[1] == ids_[2]) return false;
    if (jfif_) return true;
    if (adobe_transform_) return adobe_transform_ == 1;
    return !std::equal(std::begin(kLetters), std::end(kLetters), ids_);
  }

  // The samplings in use: Y as fine as the image, Cb and Cr as fine or coarser, one block of each in an MCU.
  bool resolve_sampling() {
    JpegComponent& luma = header.components[0];
    if (header.component_count == 1) {
      if (luma.across < 1 || luma.across > 4 || luma.down < 1 || luma.down > 4) return false;
      luma.across = luma.down = 1;  // a scan of one component has MCUs of one block
      return true;
    }
    for (int i = 1; i < 3; ++i) {
      const JpegComponent& chroma = header.components[static_cast<std::size_t>(i)];
      if (chroma.across != 1 || chroma.down != 1) return false;
    }
    const int sampling = luma.across * 16 + luma.down;
    return sampling == 0x11 || sampling == 0x21 || sampling == 0x22 || sampling == 0x12 || sampling == 0x41;
  }

  Bytes encoded_;
  int ids_[3] = {};
  bool quantization_seen_[4] = {};
  bool jfif_ = false;
  std::optional<int> adobe_transform_;
};

}  // namespace

const std::array<std::uint8_t, 64> kZigzag = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,   //
                                              12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,  //
                                              35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,  //
                                              58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

int HuffmanCode::size() const { return std::accumulate(counts.begin(), counts.end(), 0); }

ImageFacts JpegHeader::facts() const {
  return {.codec = Codec::kJpeg,
          .width = width,
          .height = height,
          .components = component_count,
          .orientation = orientation,
          .coding = JpegCoding::kSequential,
          .colors = component_count == 1 ? JpegColors::kGrey : JpegColors::kYcbcr,
          .chroma_across = across_max(),
          .chroma_down = down_max()};
}

Planes JpegHeader::plane_sizes() const {
  Planes planes{.count = component_count, .plane = {}};
  for (std::size_t c = 0; c < static_cast<std::size_t>(component_count); ++c) {
    planes.plane[c] = Plane::of(width, height, across_max() / components[c].across, down_max() / components[c].down);
  }
  return planes;
}

std::optional<JpegHeader> parse_jpeg_header(Bytes encoded) {
  HeaderParser parser(encoded);
  if (!parser.parse()) return std::nullopt;
  parser.header.orientation = jpeg_orientation(encoded);
  return parser.header;
}

}  // namespace stoker
