// What LitData's serializer "json" wrote of a list or dictionary beside an image: JSON, or a tag and what it says, with
// lengths and counts as u32, all little-endian:
//
//   0 JSON: length, text            5 dictionary: count, then key (length, text) and value of each
//   1 texts: count, then length     6 records: count, count of keys, keys (length, text), then the values of each
//     and bytes of each               record: 0x10 none, 0x11 text, 0x12 i64, 0x13 f64, 0x14 truth value
//   2 i64s: count, numbers          7 text: length, bytes
//   3 f64s: count, numbers          8 i64   9 f64   10 truth value
//   4 truth values: count, bytes    11 none
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

struct LitDataNestedValue {
  std::string name;  // of the whole, with dots before the keys and numbers of what it is in
  Bytes bytes;
  std::string_view ending{};  // "i64", "json"; of texts none
  bool is_text = false;
  std::optional<std::int64_t> integer{};  // of one number
};

/// More values are passed over.
inline constexpr std::size_t kLitDataNestedMax = 256;

/// Its values, which show the bytes: up to one more than kLitDataNestedMax. Throws kData, as a clause, if it is
/// damaged, and as check_name() does.
std::vector<LitDataNestedValue> nested_litdata_values(std::string_view name, Bytes bytes);

}  // namespace stoker
