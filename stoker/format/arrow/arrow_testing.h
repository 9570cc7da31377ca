// Tables of Arrow for tests, as the published IPC format has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

/// A column, and its rows in one batch.
struct ArrowTestColumn {
  std::string name{};
  // "null", "bool", "i8" to "u64", "f16" to "f64", "bytes", "text", "large_text", "list", "struct"; all else is written
  // as the number of an unknown type.
  std::string type{};
  std::vector<std::string> values{};    // of bytes and texts; the bytes of numbers; "\1" or "\0" of truth values
  std::vector<std::uint32_t> counts{};  // of lists: how many of its child's rows are each row's
  std::vector<ArrowTestColumn> children{};
  std::vector<bool> valid{};  // of rows; empty if all are
  std::uint64_t rows = 0;     // of a null or struct
};

using ArrowTestBatch = std::vector<ArrowTestColumn>;

/// Numbers as values.
std::vector<std::string> arrow_i64s(const std::vector<std::int64_t>& numbers);

/// A stream with the columns of the first batch.
std::string arrow_stream(const std::vector<ArrowTestBatch>& batches, bool is_zstd = false);
/// The same as a file, whose list of batches is left out: Stoker does not read it.
std::string arrow_file(const std::vector<ArrowTestBatch>& batches);

}  // namespace stoker
