#include "stoker/codec/mask_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

[[noreturn]] void refuse_array(std::string_view why) {
  fail(ErrorKind::kBadSample, "the npy array is not a mask: {}", why);
}

/// Height and width, of which the type of the numbers alone is to be checked yet.
ArrayLayout layout_of_mask(Bytes encoded) {
  ArrayLayout layout;
  try {
    layout = read_npy_layout(encoded, encoded.size());
  } catch (const Error& error) {
    refuse_array(error.message());
  }
  const Shape& shape = layout.shape;
  const bool is_plane = shape.rank() == 2 || (shape.rank() == 3 && shape[2] == 1);
  if (!is_plane || shape[0] < 1 || shape[1] < 1) refuse_array("it is not height x width");
  if (!is_integer(layout.dtype) && layout.dtype != DType::kBool) {
    refuse_array(fmt::format("its numbers are {}, and classes are whole numbers", to_string(layout.dtype)));
  }
  return layout;
}

bool is_as_it_lies(const ArrayLayout& layout) {
  return layout.item_bytes() == 1 && !is_signed(layout.dtype) && !layout.is_column_major;
}

template <typename Number>
Number swapped(Number number) {
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(Number)>>(number);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

template <typename Number>
void widen(const std::uint8_t* first, const ArrayLayout& layout, std::int64_t* out) {
  const ArrayLayout::Strides strides = layout.strides();
  for (std::int64_t y = 0; y < layout.shape[0]; ++y) {
    for (std::int64_t x = 0; x < layout.shape[1]; ++x) {
      Number number;
      std::memcpy(&number,
                  first + static_cast<std::uint64_t>(y) * strides[0] + static_cast<std::uint64_t>(x) * strides[1],
                  sizeof(number));
      if (layout.is_big_endian) number = swapped(number);
      if (!std::in_range<std::int64_t>(number)) refuse_array("one of its numbers is above 2^63");
      *out++ = static_cast<std::int64_t>(+number);
    }
  }
}

void widen_numbers(const std::uint8_t* first, const ArrayLayout& layout, std::int64_t* out) {
  switch (layout.dtype) {
    case DType::kI8: return widen<std::int8_t>(first, layout, out);
    case DType::kI16: return widen<std::int16_t>(first, layout, out);
    case DType::kI32: return widen<std::int32_t>(first, layout, out);
    case DType::kI64: return widen<std::int64_t>(first, layout, out);
    case DType::kU16: return widen<std::uint16_t>(first, layout, out);
    case DType::kU32: return widen<std::uint32_t>(first, layout, out);
    case DType::kU64: return widen<std::uint64_t>(first, layout, out);
    default: return widen<std::uint8_t>(first, layout, out);
  }
}

/// What a file has in its pixels is what they were given.
bool keeps_numbers(Codec codec) {
  constexpr Codec kKeeping[] = {Codec::kPng, Codec::kTiff, Codec::kBmp, Codec::kGif, Codec::kPnm};
  return std::find(std::begin(kKeeping), std::end(kKeeping), codec) != std::end(kKeeping);
}

}  // namespace

ImageFacts MaskDecoder::facts_of(Bytes encoded) {
  if (!keeps_numbers(detect_codec(encoded))) refuse_as_mask();
  const ImageFacts facts = images_.read_facts(encoded);
  if (facts.coding != JpegCoding::kNone) {
    fail(ErrorKind::kBadSample, "the mask is a TIFF with JPEG compression, which changes numbers");
  }
  if (facts.orientation != 1) {
    fail(ErrorKind::kBadSample, "the mask is stored turned (its orientation is {}): store it upright",
         static_cast<int>(facts.orientation));
  }
  return facts;
}

std::uint64_t MaskDecoder::memory(Bytes encoded) {
  if (has_npy_magic(encoded)) {
    const ArrayLayout layout = layout_of_mask(encoded);
    return is_as_it_lies(layout) ? 0 : sizeof(std::int64_t) * static_cast<std::uint64_t>(layout.shape.elements());
  }
  const ImageFacts facts = facts_of(encoded);
  const std::uint64_t pixels = static_cast<std::uint64_t>(facts.width) * static_cast<std::uint64_t>(facts.height);
  return decode_rgb_memory(facts, encoded.size(), {0, 0, facts.width, facts.height}) + sizeof(std::uint32_t) * pixels;
}

MaskPixels MaskDecoder::decode(Bytes encoded, MaskCodes codes) {
  if (has_npy_magic(encoded)) return decode_array(encoded, codes);
  const ImageFacts facts = facts_of(encoded);
  if (codes == MaskCodes::kIndex) return images_.decode_numbers(encoded, facts);
  return add_up_colors(images_.decode_rgb(encoded, facts, {0, 0, facts.width, facts.height}));
}

MaskPixels MaskDecoder::add_up_colors(ImageView image) {
  auto* const sums =
      numbers_.array<std::uint32_t>(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
  std::uint32_t* out = sums;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::uint32_t red = *image.at(x, y, 0), green = *image.at(x, y, 1), blue = *image.at(x, y, 2);
      *out++ = red | green << 8 | blue << 16;
    }
  }
  return {.width = image.width,
          .height = image.height,
          .bytes = sizeof(std::uint32_t),
          .numbers = reinterpret_cast<const std::uint8_t*>(sums)};
}

MaskPixels MaskDecoder::decode_array(Bytes encoded, MaskCodes codes) {
  if (codes == MaskCodes::kRgb) refuse_array("codes='rgb' is for pictures, and an array has codes='index'");
  const ArrayLayout layout = layout_of_mask(encoded);
  const std::int64_t height = layout.shape[0], width = layout.shape[1];
  check_sides(width, height, limits_);  // which an int holds
  MaskPixels mask{
      .width = static_cast<int>(width), .height = static_cast<int>(height), .numbers = encoded.data() + layout.offset};
  check_limits({.width = mask.width, .height = mask.height}, limits_);
  if (is_as_it_lies(layout)) return mask;
  auto* const numbers =
      numbers_.array<std::int64_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  widen_numbers(mask.numbers, layout, numbers);
  mask.bytes = sizeof(std::int64_t);
  mask.numbers = reinterpret_cast<const std::uint8_t*>(numbers);
  return mask;
}

}  // namespace stoker
