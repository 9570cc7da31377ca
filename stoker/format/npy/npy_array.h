// The header of an array as numpy stores it (.npy): what its values are, and where they begin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// An array of numbers, whose first axis counts samples.
struct NpyArray {
  std::string type;  // numpy's, without the byte order: "u1", "f4"
  bool is_big_endian = false;
  std::vector<std::uint64_t> shape;  // not empty
  std::uint64_t offset = 0;          // of its values in the source
  std::uint64_t row_bytes = 0;       // of a sample

  std::uint64_t rows() const { return shape.front(); }
  bool is_integer() const { return type[0] == 'u' || type[0] == 'i'; }
  /// Whether each row is an image: height x width, perhaps x 1, 3 or 4, of uint8.
  bool has_images() const;
  /// "(3, 32, 32)", of a row.
  std::string row_shape() const;
  /// The header that makes a row an array by itself.
  std::vector<std::uint8_t> row_header() const;
};

/// Reads the header of an array that fills [begin, begin + length) of the source. Throws kData with a reason ("it is
/// stored column by column") for what is not such an array; nothing is ever unpickled. Also throws what reading throws.
NpyArray read_npy_array(Source& source, std::uint64_t begin, std::uint64_t length);
/// The same, but nothing for a sound array that has no numbers for each sample: texts, Python objects, one number
/// alone. `why_not` says what it is then.
std::optional<NpyArray> find_npy_array(Source& source, std::uint64_t begin, std::uint64_t length, std::string& why_not);

}  // namespace stoker
