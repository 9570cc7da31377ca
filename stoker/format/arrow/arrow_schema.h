// The columns of a table of Arrow, as its schema says them.
#pragma once

#include <cstdint>
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
};

struct ArrowField {
  std::string name{};
  ArrowKind kind = ArrowKind::kNull;
  std::uint32_t width = 0;    // bytes of a number; of an offset where there are offsets
  std::string_view ending{};  // of numbers: "i64"
  std::vector<ArrowField> children{};

  bool is_number() const { return kind == ArrowKind::kInteger || kind == ArrowKind::kFloat; }
};

/// More columns than a table may have, their children included.
inline constexpr std::size_t kArrowFieldsMax = 512;

/// The columns. Throws kData, as a clause, for a schema that is damaged, or has columns that Stoker does not read.
std::vector<ArrowField> arrow_fields(const FlatTable& schema);

}  // namespace stoker
