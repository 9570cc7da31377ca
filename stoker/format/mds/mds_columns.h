// The columns of an MDS shard: their names, what their encodings hold, and the sizes of those whose values all have
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

enum class MdsKind : std::uint8_t {
  kBytes,    // as they are; also of encodings that are not known
  kText,     // UTF-8, also of numbers as digits
  kInteger,  // of `value_bytes` bytes, little-endian
  kFloat,
  kArray,   // of numbers; the element's type and the shape may stand in front of each
  kImage,   // an encoded image
  kImages,  // a list of them, or of kPixels
  kPixels,  // as PIL has them: width, height and length of the mode (u32 each), the mode, the pixels
  kJson,
  kPickle,  // never looked at: reading one can run any code
};

struct MdsColumn {
  std::string name;      // as written
  std::string encoding;  // as written: "ndarray:float32:3,4"
  MdsKind kind = MdsKind::kBytes;
  // Of numbers, and of the elements of arrays that do not say it themselves: "i64", "f32"; of the elements of a list:
  // "jpg". Empty: there is none.
  std::string_view type{};
  bool is_signed = false;
  bool has_reserved = false;            // of a list: 4 bytes of no meaning stand in front of it
  bool has_shape = false;               // of an array: its values have none in front
  std::optional<std::uint32_t> size{};  // of each value; nothing where they vary
};

/// What the encoding says of a column. Throws kData, as a clause, for one of an array that cannot be, and as
/// check_name() does.
MdsColumn mds_column(std::string name, std::string encoding);

/// The type of an array's elements by the number that stands in front of it: "f32". Empty for no type.
std::string_view mds_array_type(std::uint8_t number);

/// "f32" has 4.
std::size_t mds_type_bytes(std::string_view type);

}  // namespace stoker
