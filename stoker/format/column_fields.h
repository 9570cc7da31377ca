// What packs of formats have in common whose samples have the same named columns: what can be one, and that readers
// find what was written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/format/pack_contents.h"
#include "stoker/format/sample_row.h"

namespace stoker {

// Columns that are not fields of their names.
inline constexpr std::string_view kKeyColumn = "__key__", kImageColumn = "image", kLabelColumn = "label";

/// As WritableFormat::require_fits(), for a format of that name, and samples with an image or without one.
void require_fits_columns(const SampleRow& row, std::string_view format);

/// As WritableFormat::require_all_fit().
void require_all_fit_columns(const PackContents& contents, std::string_view format);

/// Whether its values are written as text: by the field's name.
bool is_text_field(std::string_view name);

/// Throws kUsage, as a clause, if the bytes are not UTF-8, in which text is written.
void require_text(std::string_view field, Bytes bytes, std::string_view format);

/// Turns the row of a sample that was written into that which the format's reader makes of it: the checksums are those
/// of the same bytes, found by the place `offsets` of each of the row's fields. Throws kUsage, as a clause, where the
/// reader finds another key or image, or not all fields.
void become_read_row(SampleRow& row, const SampleRow& read, std::span<const std::uint64_t> offsets,
                     std::string_view format);

}  // namespace stoker
