#include "stoker/format/npy/npy_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNpyMagic = "\x93NUMPY"sv;  // of headers that are made here
constexpr std::size_t kPreambleBytes = 12;  // the magic number, the version, and the header's length in 2 bytes or 4
constexpr std::size_t kHeaderBytesMax = 65536;
constexpr std::size_t kValuesAlignment = 64;

[[noreturn]] void refuse_array(std::string_view why) { fail(ErrorKind::kData, "{}", why); }

/// Why the array has no values of which each sample could have some, though it is sound; empty if it may have.
std::string why_not_of_samples(const NpyHeader& header, NpyArray& array) {
  constexpr std::array<std::string_view, 12> kTypes = {"b1", "u1", "u2", "u4", "u8", "i1",
                                                       "i2", "i4", "i8", "f2", "f4", "f8"};
  const std::string_view text = header.type;
  const bool is_quoted = text.size() == 5 && text.front() == '\'' && text.back() == '\'';
  if (text.find('O') != std::string_view::npos) return "it holds Python objects, which Stoker does not unpickle";
  const std::string_view type = is_quoted ? text.substr(2, 2) : std::string_view();
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    return fmt::format("its values are of the type {}, and not integers or floats", text);
  }
  if (header.shape.empty()) return "it is a single number, not an array of samples";
  array.type = type;
  array.is_big_endian = text[1] == '>';
  return {};
}

std::vector<std::uint8_t> read_header(Source& source, std::uint64_t begin, std::uint64_t length) {
  std::array<std::uint8_t, kPreambleBytes> preamble{};
  if (length < preamble.size()) refuse_array("its header is cut short");
  read_fully(source, begin, preamble);
  if (!has_npy_magic(preamble)) refuse_array("it does not begin as an npy array");
  const bool is_first_version = preamble[6] == 1;
  if (preamble[6] < 1 || preamble[6] > 3) refuse_array(fmt::format("its version is {}", preamble[6]));
  const std::size_t header_at = is_first_version ? 10 : 12;
  const std::size_t header_bytes = is_first_version ? load_little_endian<std::uint16_t>(preamble.data() + 8)
                                                    : load_little_endian<std::uint32_t>(preamble.data() + 8);
  if (header_bytes > length - header_at) refuse_array("its header is cut short");
  if (header_bytes > kHeaderBytesMax) refuse_array(fmt::format("its header has {}", byte_count(header_bytes)));
  std::vector<std::uint8_t> bytes(header_at + header_bytes);
  read_fully(source, begin, bytes);
  return bytes;
}

/// What is wrong with it is wrong with all samples.
NpyHeader parse_header(Bytes bytes) {
  try {
    return parse_npy_header(bytes);
  } catch (const Error& error) {
    refuse_array(error.message());
  }
}

}  // namespace

bool NpyArray::has_images() const {
  if (type != "u1" || (shape.size() != 3 && shape.size() != 4) || row_bytes == 0) return false;
  return shape.size() == 3 || shape[3] == 1 || shape[3] == 3 || shape[3] == 4;
}

std::string NpyArray::row_shape() const {
  const bool is_alone = shape.size() == 2;  // Python's comma
  return fmt::format("({}{})", fmt::join(shape.begin() + 1, shape.end(), ", "), is_alone ? "," : "");
}

std::vector<std::uint8_t> NpyArray::row_header() const {
  const char order = type[1] == '1' ? '|' : is_big_endian ? '>' : '<';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, type, row_shape());
  const std::size_t before = kNpyMagic.size() + 4;
  text.append((kValuesAlignment - (before + text.size() + 1) % kValuesAlignment) % kValuesAlignment, ' ');
  text += '\n';
  std::vector<std::uint8_t> header(kNpyMagic.begin(), kNpyMagic.end());
  header.push_back(1);
  header.push_back(0);
  append_little_endian(header, static_cast<std::uint16_t>(text.size()));
  header.insert(header.end(), text.begin(), text.end());
  return header;
}

NpyArray read_npy_array(Source& source, std::uint64_t begin, std::uint64_t length) {
  std::string why_not;
  std::optional<NpyArray> array = find_npy_array(source, begin, length, why_not);
  if (!array) refuse_array(why_not);
  return *std::move(array);
}

std::optional<NpyArray> find_npy_array(Source& source, std::uint64_t begin, std::uint64_t length,
                                       std::string& why_not) {
  const std::vector<std::uint8_t> bytes = read_header(source, begin, length);
  const NpyHeader header = parse_header(bytes);
  NpyArray array;
  why_not = why_not_of_samples(header, array);
  if (!why_not.empty()) return std::nullopt;
  if (header.is_column_major) {
    refuse_array(
        "it is stored column by column (Fortran's order); numpy.ascontiguousarray() before numpy.save() helps");
  }
  array.shape.assign(header.shape.begin(), header.shape.end());
  array.offset = begin + header.bytes;
  array.row_bytes = static_cast<std::uint64_t>(array.type[1] - '0');
  const std::uint64_t there = length - header.bytes;
  const auto too_many = [&] {
    refuse_array(fmt::format("its shape needs other than the {} that follow its header", byte_count(there)));
  };
  for (std::size_t axis = 1; axis < array.shape.size(); ++axis) {
    if (array.shape[axis] != 0 && array.row_bytes > there / array.shape[axis] && array.rows() > 0) too_many();
    array.row_bytes *= array.shape[axis];
  }
  if (array.row_bytes == 0 && array.rows() > 0) refuse_array("its samples have no values");
  if (array.rows() > 0 && array.row_bytes > there / array.rows()) too_many();
  if (array.rows() * array.row_bytes != there) too_many();
  return array;
}

}  // namespace stoker
