#include "stoker/codec/jpeg2000/jpeg2000_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "stoker/codec/jpeg2000/codestream_checks.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "\0\0\0\x0CjP  \r\n\x87\n"sv;
constexpr std::string_view kCodestream = "\xFF\x4F\xFF\x51"sv;

struct Box {
  std::string_view type;
  Bytes content;
};

/// Takes the first of some boxes.
Box take_box(Jpeg2000Bytes& boxes) {
  std::uint64_t length = boxes.u32(), header = 8;
  const std::string_view type = as_text(boxes.take(4));
  if (length == 1) length = boxes.number(8), header = 16;
  if (length == 0) length = header + boxes.left();  // to the end
  if (length < header || length - header > boxes.left()) refuse_jpeg2000("it is truncated");
  return {type, boxes.take(static_cast<std::size_t>(length - header))};
}

/// What a JP2 file's header says of the colours.
struct Jp2Header {
  std::optional<std::uint32_t> color_space;
  bool has_palette = false;
};

constexpr std::uint32_t kCmykSpace = 12, kGreySpace = 17, kYccSpace = 18;

void read_palette(Jpeg2000Bytes from, Jpeg2000Image& image) {
  const std::uint32_t entries = from.u16(), columns = from.u8();
  if (entries < 1 || entries > 256 || columns < 3 || columns > 4) refuse_jpeg2000("its palette is of a rare kind");
  for (std::uint32_t c = 0; c < columns; ++c) {
    if (from.u8() != 7) refuse_jpeg2000("its palette is of a rare kind");  // 8 bits without a sign
  }
  image.palette_entries = static_cast<int>(entries);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const Bytes colors = from.take(columns);
    std::copy_n(colors.begin(), 3, image.palette[i].begin());
  }
}

Jp2Header read_jp2_header(Jpeg2000Bytes boxes, Jpeg2000Image& image) {
  Jp2Header header;
  while (boxes.left() > 0) {
    const Box box = take_box(boxes);
    Jpeg2000Bytes content(box.content);
    if (box.type == "colr" && !header.color_space) {
      const std::uint32_t method = content.u8();
      content.u16();  // precedence and approximation
      if (method == 1) header.color_space = content.u32();
    } else if (box.type == "pclr" && !header.has_palette) {
      read_palette(content, image);
      header.has_palette = true;
    }
  }
  return header;
}

bool has_coarse_chroma(const Jpeg2000Image& image) {
  return image.components >= 3 && (image.component[1].across > 1 || image.component[1].down > 1);
}

Jpeg2000Colors colors_of(const Jp2Header& header, const Jpeg2000Image& image) {
  if (image.components <= 2) {
    const bool palette = header.has_palette && header.color_space != kGreySpace;
    return palette ? Jpeg2000Colors::kPalette : Jpeg2000Colors::kGrey;
  }
  if (image.components == 4 && header.color_space == kCmykSpace) return Jpeg2000Colors::kCmyk;
  return header.color_space == kYccSpace || has_coarse_chroma(image) ? Jpeg2000Colors::kYcc : Jpeg2000Colors::kRgb;
}

}  // namespace

bool has_jpeg2000_magic(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  return text.starts_with(kSignature) || text.starts_with(kCodestream);
}

Jpeg2000Image read_jpeg2000(Bytes encoded) {
  Jpeg2000Image image;
  Jp2Header header;
  if (as_text(encoded).starts_with(kSignature)) {
    Jpeg2000Bytes boxes(encoded);
    while (image.codestream.empty()) {
      if (boxes.left() == 0) refuse_jpeg2000("it has no codestream");
      const Box box = take_box(boxes);
      if (box.type == "jp2h") header = read_jp2_header(Jpeg2000Bytes(box.content), image);
      if (box.type == "jp2c") image.codestream = box.content;
    }
  } else {
    image.codestream = encoded;
  }
  read_codestream(image);
  image.colors = colors_of(header, image);
  return image;
}

}  // namespace stoker
