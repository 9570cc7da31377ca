#include "stoker/format/mds/mds_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

using MdsJson = nlohmann::json;

/// The member of that name, a list of `count` values; of any number without one.
const MdsJson& list_of(const MdsJson& description, const char* name, std::optional<std::size_t> count) {
  const auto found = description.find(name);
  if (found == description.end() || !found->is_array()) fail(ErrorKind::kData, "it has no list '{}'", name);
  if (count && found->size() != *count) {
    fail(ErrorKind::kData, "its list '{}' has {} values, for {} columns", name, found->size(), *count);
  }
  return *found;
}

const std::string& text_of(const MdsJson& value, const char* list) {
  if (!value.is_string()) fail(ErrorKind::kData, "its list '{}' has a value that is not a text", list);
  return value.get_ref<const std::string&>();
}

/// What its encoding says and what the shard says of the size must agree: both are used.
void set_size(MdsColumn& column, const MdsJson& size) {
  constexpr std::uint64_t kMax = 0xffffffff;
  std::optional<std::uint32_t> stated;
  if (size.is_number_unsigned() && size.get<std::uint64_t>() <= kMax) {
    if (size != 0) stated = size.get<std::uint32_t>();
  } else if (!size.is_null()) {
    fail(ErrorKind::kData, "column '{}' has a size that is not one", column.name);
  }
  if (column.size && column.size != stated) {
    fail(ErrorKind::kData, "column '{}' has values of {}, and not the {} of '{}'", column.name,
         stated ? byte_count(*stated) : "any size", *column.size, column.encoding);
  }
  column.size = stated;
}

std::vector<MdsColumn> columns_of(Bytes text) {
  const MdsJson description = parse_data_json(as_text(text));
  if (!description.is_object()) fail(ErrorKind::kData, "it is not a JSON object");
  if (const auto format = description.find("format"); format == description.end() || *format != "mds") {
    fail(ErrorKind::kData, "its 'format' is not \"mds\"");
  }
  const MdsJson& names = list_of(description, "column_names", std::nullopt);
  if (names.empty() || names.size() > kMdsColumnsMax) {
    fail(ErrorKind::kData, "it has {} columns, and 1 to {} can be read", names.size(), kMdsColumnsMax);
  }
  const MdsJson& encodings = list_of(description, "column_encodings", names.size());
  const MdsJson& sizes = list_of(description, "column_sizes", names.size());
  std::vector<MdsColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns.push_back(mds_column(text_of(names[i], "column_names"), text_of(encodings[i], "column_encodings")));
    set_size(columns.back(), sizes[i]);
  }
  return columns;
}

}  // namespace

MdsHeader read_mds_header(Source& source, const MdsPlace& place) {
  constexpr std::uint64_t kFixedBytes = kMdsOffsetsAt + 4;
  const auto require = [&](bool holds, std::uint64_t needed) {
    if (holds) return;
    fail(ErrorKind::kData, "'{}' is truncated: it needs {}, and has {}", source.name(), byte_count(needed), place.size);
  };
  require(place.size >= kFixedBytes, kFixedBytes);
  std::array<std::uint8_t, kFixedBytes> fixed;
  read_fully(source, place.begin, fixed);
  MdsHeader header{.samples = load_little_endian<std::uint32_t>(fixed.data()),
                   .samples_at = load_little_endian<std::uint32_t>(fixed.data() + kMdsOffsetsAt)};
  const std::uint64_t text_at = header.offsets_end();
  require(text_at <= place.size, text_at);
  require(header.samples_at <= place.size, header.samples_at);
  if (header.samples_at < text_at || header.samples_at - text_at > kMdsDescriptionBytesMax) {
    fail(ErrorKind::kData,
         "'{}' is damaged: its samples are said to begin at byte {}, and {} offsets and a description of up to {} "
         "come before them",
         source.name(), header.samples_at, std::uint64_t{header.samples} + 1, byte_count(kMdsDescriptionBytesMax));
  }
  std::vector<std::uint8_t> text(header.samples_at - text_at);
  read_fully(source, place.begin + text_at, text);
  try {
    header.columns = columns_of(text);
  } catch (const Error& wrong) {
    fail(ErrorKind::kData, "'{}': the description at byte {} cannot be used: {}", source.name(), text_at,
         wrong.message());
  }
  return header;
}

bool is_mds(Bytes beginning) {
  if (beginning.size() < kMdsOffsetsAt + 4) return false;
  const MdsHeader header{.samples = load_little_endian<std::uint32_t>(beginning.data())};
  const std::uint64_t samples_at = load_little_endian<std::uint32_t>(beginning.data() + kMdsOffsetsAt);
  const std::uint64_t text_at = header.offsets_end();
  constexpr std::uint64_t kTextBytesMin = 60, kTextBytesLikely = 64 << 10;  // of a description
  if (samples_at < text_at + kTextBytesMin || samples_at > text_at + kTextBytesLikely) return false;
  std::uint32_t before = 0;
  for (std::uint64_t at = kMdsOffsetsAt; at + 4 <= std::min<std::uint64_t>(text_at, beginning.size()); at += 4) {
    const auto offset = load_little_endian<std::uint32_t>(beginning.data() + at);
    if (offset < before) return false;
    before = offset;
  }
  return text_at + 2 > beginning.size() || as_text(beginning.subspan(text_at)).starts_with("{\"");
}

}  // namespace stoker
