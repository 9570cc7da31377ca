#include "stoker/tensor/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
// The magic number, the version, and the header's length in 2 bytes or 4.
constexpr std::size_t kShortPreamble = 10, kPreamble = 12;

[[noreturn]] void refuse(std::string_view why) { fail(ErrorKind::kBadSample, "{}", why); }

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

std::vector<std::int64_t> shape_of(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (!text.starts_with('(')) refuse("its header is damaged");
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) refuse("its shape is unusual");
    shape.push_back(extent);
    at = static_cast<std::size_t>(end - text.data());
  }
  return shape;
}

DType dtype_of(std::string_view type) {
  struct Type {
    std::string_view numpys;
    DType dtype;
  };
  constexpr Type kTypes[] = {{"b1", DType::kBool}, {"u1", DType::kU8},  {"i1", DType::kI8},  {"u2", DType::kU16},
                             {"i2", DType::kI16},  {"u4", DType::kU32}, {"i4", DType::kI32}, {"u8", DType::kU64},
                             {"i8", DType::kI64},  {"f2", DType::kF16}, {"f4", DType::kF32}, {"f8", DType::kF64}};
  const bool is_quoted = type.size() == 5 && type.front() == '\'' && type.back() == '\'';
  const std::string_view code = is_quoted ? type.substr(2, 2) : std::string_view();
  for (const Type& each : kTypes) {
    if (each.numpys == code) return each.dtype;
  }
  if (type.find('O') != std::string_view::npos) refuse("it holds Python objects, which Stoker does not unpickle");
  refuse(fmt::format("its values are of type {}, and not integers, floats or truth values", type));
}

}  // namespace

bool has_npy_magic(Bytes beginning) { return as_text(beginning).starts_with(kMagic); }

NpyHeader parse_npy_header(Bytes beginning, std::size_t most) {
  if (!has_npy_magic(beginning) || beginning.size() < kPreamble) refuse("its header is cut short");
  const bool is_short = beginning[6] == 1;
  const std::size_t preamble = is_short ? kShortPreamble : kPreamble;
  const std::size_t length = is_short ? load_little_endian<std::uint16_t>(beginning.data() + 8)
                                      : load_little_endian<std::uint32_t>(beginning.data() + 8);
  if (length > most - preamble) refuse(fmt::format("its header has {}", byte_count(preamble + length)));
  if (beginning[6] < 1 || beginning[6] > 3 || length > beginning.size() - preamble) refuse("its header is cut short");
  const std::string_view text = as_text(beginning).substr(preamble, length);

  NpyHeader header;
  header.type = value_of(text, "descr", ',');
  header.bytes = preamble + length;
  header.is_column_major = value_of(text, "fortran_order", ',') != "False";
  header.shape = shape_of(value_of(text, "shape", ')'));
  return header;
}

ArrayLayout read_npy_layout(Bytes beginning, std::uint64_t bytes) {
  if (!has_npy_magic(beginning)) refuse("it does not begin as an npy array");
  const NpyHeader header = parse_npy_header(beginning, kNpyHeaderBytesMax);
  ArrayLayout layout;
  layout.dtype = dtype_of(header.type);
  layout.is_big_endian = header.type[1] == '>';
  layout.is_column_major = header.is_column_major;
  layout.offset = header.bytes;
  if (header.shape.size() > ArrayLayout::kAxesMax) {
    refuse(fmt::format("it has {} axes, and {} are possible", header.shape.size(), ArrayLayout::kAxesMax));
  }
  std::int64_t product = static_cast<std::int64_t>(layout.item_bytes());
  bool fits = header.bytes <= bytes;
  for (const std::int64_t extent : header.shape) {
    fits = fits && !__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product);
    layout.shape.append(extent);
  }
  const bool is_empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  const std::uint64_t numbers = is_empty ? 0 : static_cast<std::uint64_t>(product);
  if (!fits || numbers != bytes - header.bytes) {
    refuse(fmt::format("its shape needs other than the {} that follow its header",
                       byte_count(bytes - std::min<std::uint64_t>(header.bytes, bytes))));
  }
  return layout;
}

}  // namespace stoker
