#include "stoker/codec/avif/avif_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

// Colour profiles are the largest that real files have; grids have at most some hundred items.
constexpr std::size_t kMetaBytesMax = 4 << 20;
constexpr std::size_t kItemsMax = 4096;
// An image coded in layers has a few.
constexpr int kFramesMax = 8;

[[noreturn]] void refuse_avif(std::string_view because) {
  fail(ErrorKind::kBadSample, "the AVIF data cannot be decoded: {}", because);
}

/// Big-endian integers, each taken from the beginning of what is left.
class AvifBytes {
 public:
  explicit AvifBytes(Bytes bytes) : left_(bytes) {}
  Bytes left() const { return left_; }
  Bytes take(std::uint64_t count) {
    if (count > left_.size()) refuse_avif("it is truncated");
    const Bytes taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }

 private:
  Bytes left_;
};

struct AvifBox {
  std::string_view type;
  Bytes content;
};

AvifBox take_avif_box(AvifBytes& boxes) {
  std::uint64_t length = boxes.number(4), header = 8;
  const std::string_view type = as_text(boxes.take(4));
  if (length == 1) length = boxes.number(8), header = 16;
  if (length == 0) length = header + boxes.left().size();  // to the end
  if (length < header) refuse_avif("a box of it makes no sense");
  return {type, boxes.take(length - header)};
}

std::optional<Bytes> find_avif_box(Bytes boxes, std::string_view type) {
  AvifBytes left(boxes);
  while (!left.left().empty()) {
    const AvifBox box = take_avif_box(left);
    if (box.type == type) return box.content;
  }
  return std::nullopt;
}

/// The items that are AV1 images.
std::vector<std::uint64_t> av1_items(Bytes meta) {
  const std::optional<Bytes> infos = find_avif_box(meta, "iinf");
  if (!infos) refuse_avif("it has no items");
  AvifBytes left(*infos);
  const std::uint64_t version = left.number(4) >> 24;
  const std::uint64_t count = left.number(version == 0 ? 2 : 4);
  if (count > kItemsMax) refuse_avif("it has too many items");
  std::vector<std::uint64_t> items;
  for (std::uint64_t i = 0; i < count; ++i) {
    const AvifBox box = take_avif_box(left);
    AvifBytes info(box.content);
    const std::uint64_t info_version = info.number(4) >> 24;
    if (box.type != "infe" || info_version < 2) continue;
    const std::uint64_t item = info.number(info_version == 2 ? 2 : 4);
    info.number(2);  // protection
    if (as_text(info.take(4)) == "av01") items.push_back(item);
  }
  return items;
}

/// Bits of AV1 headers, the highest first.
class Av1Bits {
 public:
  explicit Av1Bits(Bytes bytes) : bytes_(bytes) {}
  std::uint32_t number(std::uint32_t bits) {
    std::uint32_t value = 0;
    for (; bits > 0; --bits, ++at_) {
      if (at_ / 8 >= bytes_.size()) refuse_avif("it is truncated");
      value = value << 1 | (bytes_[at_ / 8] >> (7 - at_ % 8) & 1u);
    }
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

/// How many pixels a frame may have that comes after this sequence header (AV1 specification, 5.5).
std::uint64_t pixels_of_sequence(Bytes header) {
  Av1Bits bits(header);
  bits.number(4);  // profile; whether it is a still picture
  if (bits.number(1)) {
    bits.number(5);  // its level
  } else {
    if (bits.number(1)) refuse_avif("its AV1 data tell times, which images do not");
    const bool has_delays = bits.number(1) != 0;
    const std::uint32_t points = bits.number(5) + 1;
    for (std::uint32_t i = 0; i < points; ++i) {
      bits.number(12);
      if (bits.number(5) > 7) bits.number(1);
      if (has_delays && bits.number(1)) bits.number(4);
    }
  }
  const std::uint32_t width_bits = bits.number(4) + 1, height_bits = bits.number(4) + 1;
  const std::uint64_t width = bits.number(width_bits) + 1, height = bits.number(height_bits) + 1;
  return width * height;
}

/// Passes over the parts of AV1 data (AV1 specification, 5.3). Throws if it has too many frames, or larger ones.
void check_frames(Bytes data, std::uint64_t pixels_max) {
  constexpr unsigned kSequenceHeader = 1, kFrameHeader = 3, kFrame = 6;
  AvifBytes left(data);
  int frames = 0;
  while (!left.left().empty()) {
    const auto header = static_cast<unsigned>(left.number(1));
    const unsigned type = header >> 3 & 15;
    if (header & 4) left.number(1);
    std::uint64_t size = left.left().size();  // to the end, unless it is told
    if (header & 2) size = 0;
    for (unsigned shift = 0; header & 2; shift += 7) {
      if (shift > 49) refuse_avif("its AV1 data are damaged");
      const std::uint64_t byte = left.number(1);
      size |= (byte & 0x7F) << shift;
      if (!(byte & 0x80)) break;
    }
    const Bytes content = left.take(size);
    if (type == kFrameHeader || type == kFrame) ++frames;
    if (frames > kFramesMax) refuse_avif("it has too many frames in an image");
    if (type == kSequenceHeader && pixels_of_sequence(content) > pixels_max) {
      refuse_avif("its AV1 data have more pixels than the image");
    }
  }
}

class ItemPlaces {
 public:
  ItemPlaces(Bytes file, Bytes meta, std::vector<std::uint64_t> items, std::uint64_t pixels_max)
      : file_(file),
        pixels_max_(pixels_max),
        inside_(find_avif_box(meta, "idat").value_or(Bytes())),
        items_(std::move(items)) {
    const std::optional<Bytes> places = find_avif_box(meta, "iloc");
    if (!places) refuse_avif("it does not say where its items are");
    AvifBytes left(*places);
    version_ = left.number(4) >> 24;
    const std::uint64_t sizes = left.number(2);
    offset_bytes_ = sizes >> 12, length_bytes_ = sizes >> 8 & 15, base_bytes_ = sizes >> 4 & 15;
    index_bytes_ = version_ == 1 || version_ == 2 ? sizes & 15 : 0;
    const std::uint64_t count = left.number(version_ < 2 ? 2 : 4);
    if (version_ > 2 || count > kItemsMax) refuse_avif("it has too many items");
    if (std::max({offset_bytes_, length_bytes_, base_bytes_, index_bytes_}) > 8)
      refuse_avif("a box of it makes no sense");
    for (std::uint64_t i = 0; i < count; ++i) check_item(left);
  }

 private:
  void check_item(AvifBytes& left) {
    const std::uint64_t item = left.number(version_ < 2 ? 2 : 4);
    const std::uint64_t method = version_ == 0 ? 0 : left.number(2) & 15;
    left.number(2);  // which file
    const std::uint64_t base = left.number(base_bytes_), extents = left.number(2);
    const Bytes from = method == 1 ? inside_ : file_;
    if (method > 1) refuse_avif("its items are of a rare kind");
    std::vector<std::uint8_t> joined;
    Bytes data;
    for (std::uint64_t k = 0; k < extents; ++k) {
      left.number(index_bytes_);
      const std::uint64_t offset = left.number(offset_bytes_), length = left.number(length_bytes_);
      if (base > from.size() || offset > from.size() - base || length > from.size() - base - offset) {
        refuse_avif("it is truncated");
      }
      const Bytes extent = from.subspan(static_cast<std::size_t>(base + offset), static_cast<std::size_t>(length));
      bytes_ += extent.size();
      if (bytes_ > 2 * file_.size()) refuse_avif("its items lie on each other");
      if (extents > 1) joined.insert(joined.end(), extent.begin(), extent.end());
      data = extents > 1 ? Bytes(joined) : extent;
    }
    const bool is_av1 = std::find(items_.begin(), items_.end(), item) != items_.end();
    if (is_av1) check_frames(data, pixels_max_);
  }

  Bytes file_;
  std::uint64_t pixels_max_;
  Bytes inside_;
  std::vector<std::uint64_t> items_;
  std::uint64_t version_ = 0, bytes_ = 0;
  std::size_t offset_bytes_ = 0, length_bytes_ = 0, base_bytes_ = 0, index_bytes_ = 0;
};

}  // namespace

void check_avif(Bytes encoded, std::uint64_t pixels_max) {
  const std::optional<Bytes> meta = find_avif_box(encoded, "meta");
  if (!meta || meta->size() < 4) refuse_avif("it has no image beside its tracks");
  if (meta->size() > kMetaBytesMax) refuse_avif("its header is too long");
  const Bytes boxes = meta->subspan(4);  // after version and flags
  const ItemPlaces places(encoded, boxes, av1_items(boxes), pixels_max);
}

}  // namespace stoker
