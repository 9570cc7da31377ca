// The columns of a table of Arrow, as its schema says them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/arrow/flat_table.h"

namespace stoker {

enum class ArrowKind : std::uint8_t {
  kNull,     // of nothing at all
  kInteger,  // little-endian
  kFloat,
  kTruth,  // a bit
  kBytes,
  kText,
  kList,    // of its one child's values
  kStruct,  // of a value of each child
  kOther,   // numbers of so many bytes that no field can have, such as decimals
};

struct ArrowField {
  std::string name{};
  ArrowKind kind = ArrowKind::kNull;
  std::uint32_t width = 0;    // bytes of a number; of an offset where there are offsets, else 0
  std::uint32_t fixed = 0;    // without offsets: how many bytes or values each row has
  bool is_view = false;       // bytes or text that lie where the row says, in one of several buffers
  std::string_view ending{};  // of numbers: "i64"
  // Of a column whose rows are numbers of values in a dictionary: its number, and the bytes of a row. All else is that
  // of the values.
  std::optional<std::int64_t> dictionary{};
  std::uint32_t index_width = 0;
  std::vector<ArrowField> children{};

  bool is_number() const { return kind == ArrowKind::kInteger || kind == ArrowKind::kFloat; }
};

/// More columns than a table may have, their children included.
inline constexpr std::size_t kArrowFieldsMax = 512;

/// The columns. Throws kData, as a clause, for a schema that is damaged, or has columns that Stoker does not read or
/// whose names check_name() refuses.
std::vector<ArrowField> arrow_fields(const FlatTable& schema);

/// What the schema notes under this name, such as "huggingface"; empty without such a note. Throws as above.
std::string arrow_note(const FlatTable& schema, std::string_view name);

}  // namespace stoker
