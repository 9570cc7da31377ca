// Tables of Arrow for tests, as the published IPC format has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

/// A column, and its rows in one batch.
struct ArrowTestColumn {
  std::string name{};
  // "null", "bool", "i8" to "u64", "f16" to "f64", "bytes", "text", "large_text", "text_view", "fixed_bytes" and
  // "fixed_list" (of `fixed` in each row), "list", "struct", "map", "decimal", "date", "time", "timestamp", "duration",
  // "interval"; all else is written as the number of an unknown type.
  std::string type{};
  std::vector<std::string> values{};    // of bytes and texts; the bytes of numbers; "\1" or "\0" of truth values
  std::vector<std::uint32_t> counts{};  // of lists: how many of its child's rows are each row's
  std::vector<ArrowTestColumn> children{};
  std::vector<bool> valid{};  // of rows; empty if all are
  std::uint64_t rows = 0;     // of a null, struct or fixed list
  std::uint32_t fixed = 0;
  // Of a column with a dictionary of this number: `values` are the dictionary's, and rows these numbers of them.
  std::optional<std::int64_t> dictionary{};
  std::vector<std::int8_t> numbers{};
};

using ArrowTestBatch = std::vector<ArrowTestColumn>;

/// Numbers as values.
std::vector<std::string> arrow_i64s(const std::vector<std::int64_t>& numbers);

enum class ArrowTestCodec : std::uint8_t { kNone, kZstd, kLz4 };

struct ArrowTestOptions {
  ArrowTestCodec codec = ArrowTestCodec::kNone;
  std::string huggingface{};  // what `datasets` notes
  bool has_end_mark = true;
  std::uint32_t whole_buffers = 0;  // after those of the columns, each of which is the whole body
};

/// A stream with the columns of the first batch. Dictionaries stand before the batch that has them.
std::string arrow_stream(const std::vector<ArrowTestBatch>& batches, const ArrowTestOptions& options = {});
/// The same as a file, in the place of whose list of batches are other bytes: Stoker does not read it.
std::string arrow_file(const std::vector<ArrowTestBatch>& batches, const ArrowTestOptions& options = {});

}  // namespace stoker
