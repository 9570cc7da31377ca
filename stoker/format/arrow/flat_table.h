// Tables of FlatBuffers, the form that Arrow's metadata have. A field goes by its number in the schema; every access is
// checked against the buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/little_endian.h"

namespace stoker {

/// Threads: a value, which shows a buffer that must outlive it. Its methods throw kData, as a clause, for what reaches
/// past the buffer.
class FlatTable {
 public:
  /// The table that the buffer is of.
  static FlatTable root_of(Bytes buffer);

  template <typename Number>
  Number number(std::size_t field, Number absent = 0) const {
    const std::size_t at = place_of(field, sizeof(Number));
    return at == 0 ? absent : load_little_endian<Number>(buffer_.data() + at);
  }
  /// Nothing where it is absent.
  std::optional<FlatTable> table(std::size_t field) const;
  /// Empty where it is absent.
  std::string_view text(std::size_t field) const;
  /// The elements of a vector of numbers or structs of so many bytes.
  Bytes elements(std::size_t field, std::size_t element_bytes) const;
  /// Those of a vector of tables. Throws kData also for more than `count_max`.
  std::vector<FlatTable> tables(std::size_t field, std::size_t count_max) const;

 private:
  FlatTable(Bytes buffer, std::uint64_t at);

  std::size_t place_of(std::size_t field, std::size_t bytes) const;
  std::uint64_t target_of(std::size_t at) const;

  Bytes buffer_;
  std::size_t at_;      // of the table
  std::size_t fields_;  // of the list of its fields' places
  std::size_t fields_bytes_, table_bytes_;
};

}  // namespace stoker
