#include "stoker/format/recordio/image_record.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "stoker/base/little_endian.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"

namespace stoker {

std::optional<std::int64_t> class_of_float(float label) {
  if (!(label >= 0 && label <= static_cast<float>(kImageLabelMax))) return std::nullopt;
  const auto number = static_cast<std::int64_t>(label);
  return static_cast<float>(number) == label ? std::optional(number) : std::nullopt;
}

std::optional<ImageRecord> read_image_record(Bytes head, std::size_t length) {
  if (length < kImageHeaderBytes) return std::nullopt;
  const auto flag = load_little_endian<std::uint32_t>(head.data() + kImageFlagAt);
  if (flag > (length - kImageHeaderBytes) / sizeof(float)) return std::nullopt;
  return ImageRecord{.image_at = kImageHeaderBytes + flag * sizeof(float),
                     .labels_at = flag == 0 ? kImageLabelAt : kImageHeaderBytes,
                     .labels = flag == 0 ? 1 : flag};
}

void fill_image_row(Bytes head, std::size_t length, const ImageRecord& record, std::uint64_t offset,
                    std::string_view key_prefix, SampleRow& row) {
  row.key = fmt::format("{}{:08}", key_prefix, load_little_endian<std::uint64_t>(head.data() + kImageIdAt));
  std::optional<std::int64_t> label;
  bool has_label = true;
  if (record.labels == 1) {
    const auto number = std::bit_cast<float>(load_little_endian<std::uint32_t>(head.data() + record.labels_at));
    label = class_of_float(number);
    has_label = !std::isnan(number);
  }
  row.label = label.value_or(-1);
  const std::string_view extension = extension_of_bytes(head.subspan(record.image_at));
  row.fields.push_back({.name = extension.empty() ? "data" : extension,
                        .part = {},
                        .offset = offset + record.image_at,
                        .length = length - record.image_at});
  if (label || !has_label) return;
  row.fields.push_back(
      {.name = "label.f32", .part = {}, .offset = offset + record.labels_at, .length = record.labels * sizeof(float)});
  if (row.fields[1].name < row.fields[0].name) std::swap(row.fields[0], row.fields[1]);  // "png"
}

std::string recordio_key_prefix(std::string_view file) { return key_prefix_of_file(file, {".rec"}); }

}  // namespace stoker
