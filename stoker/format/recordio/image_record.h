// The header of an image in a RecordIO file, and what becomes of it: a record's key, label and fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/format/sample_row.h"

namespace stoker {

// u32 flag, f32 label, u64 id, u64 id2; then `flag` labels, f32 each, in place of the one.
inline constexpr std::size_t kImageFlagAt = 0, kImageLabelAt = 4, kImageIdAt = 8, kImageHeaderBytes = 24;

/// Labels are floats, which are exact up to here.
inline constexpr std::int64_t kImageLabelMax = std::int64_t{1} << 24;

/// A class number that is stored as a float; nothing for one that is none.
std::optional<std::int64_t> class_of_float(float label);

/// Where the parts of a record lie in its data.
struct ImageRecord {
  std::size_t image_at = 0;
  std::size_t labels_at = 0, labels = 0;
};

/// Of `length` bytes of data, which begin with `head`: kImageHeaderBytes of them, or all. Nothing for data that are too
/// short for their header.
std::optional<ImageRecord> read_image_record(Bytes head, std::size_t length);

/// Fills `row`, which is clear, except for its source. `head`: the data up to kImageBeginningBytes of the image, at
/// least; `offset`: where the data lie. The names that the row shows live forever.
void fill_image_row(Bytes head, std::size_t length, const ImageRecord& record, std::uint64_t offset,
                    std::string_view key_prefix, SampleRow& row);

/// What keys of a file's samples begin with.
std::string recordio_key_prefix(std::string_view file);

}  // namespace stoker
