// The header of an array as numpy writes it (.npy): what its numbers are, and where they begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/array_layout.h"

namespace stoker {

/// As it stands there.
struct NpyHeader {
  std::string_view type;  // with its quotation marks: "'<f4'"; of the bytes that were read
  bool is_column_major = false;
  std::vector<std::int64_t> shape;  // extents of 0 or more
  std::size_t bytes = 0;            // of all of it: there the numbers begin
};

bool has_npy_magic(Bytes beginning);

/// No array of numbers has a longer one.
inline constexpr std::size_t kNpyHeaderBytesMax = 4096;

/// Throws kBadSample, as what is wrong ("its header is cut short"). A beginning of `most` bytes is enough.
NpyHeader parse_npy_header(Bytes beginning, std::size_t most = SIZE_MAX);

/// Of an array that is `bytes` long, of which the first kNpyHeaderBytesMax are enough. Throws kBadSample, as what is
/// wrong, for what is not an array of numbers, is longer or shorter than it says, or has more axes than
/// ArrayLayout::kAxesMax.
ArrayLayout read_npy_layout(Bytes beginning, std::uint64_t bytes);

}  // namespace stoker
