#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/lmdb/datum.h"
#include "stoker/format/lmdb/lmdb_samples.h"
#include "stoker/format/member_name.h"
#include "stoker/tensor/raw_datum.h"

namespace stoker {
namespace {

static_assert(kImageBeginningBytes >= kRawDatumHeaderBytesMax);

Bytes beginning_of_value(LmdbCursor& cursor, const LmdbEntry& entry, std::uint64_t at = 0) {
  return cursor.read(entry, at,
                     static_cast<std::size_t>(std::min<std::uint64_t>(kImageBeginningBytes, entry.length - at)));
}

/// Protocols 2 to 5 begin so.
bool begins_as_pickle(Bytes value) {
  constexpr std::uint8_t kProtocol = 0x80;
  return value.size() >= 2 && value[0] == kProtocol && value[1] >= 2 && value[1] <= 5;
}

bool is_text(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F;
  });
}

bool is_number(std::string_view key) {
  return std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint64_t big_endian(Bytes key) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : key) number = number << 8 | byte;
  return number;
}

}  // namespace

std::string lmdb_key_prefix(std::string_view path) {
  constexpr std::string_view kInFolder = "/data.mdb";
  if (path.size() > kInFolder.size() && path.ends_with(kInFolder)) path.remove_suffix(kInFolder.size());
  return key_prefix_of_file(path, {".mdb", ".lmdb"});
}

std::string_view extension_of_value(LmdbCursor& cursor, const LmdbEntry& entry) {
  return extension_of_bytes(beginning_of_value(cursor, entry));
}

std::string_view LmdbFieldNames::keep(std::string_view name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(name).first;
  return *found;
}

LmdbEntrySamples::LmdbEntrySamples(Source& source, const LmdbMeta& meta, std::stop_token stop)
    : source_(source),
      stop_(std::move(stop)),
      has_integer_keys_(meta.flags & kLmdbIntegerKey),
      cursor_(source, meta),
      key_prefix_(lmdb_key_prefix(source.name())) {}

bool LmdbEntrySamples::next(SampleRow& row) {
  LmdbEntry entry;
  do {
    row.clear();
    row.source = &source_;
    stop_if_asked(stop_, source_.name());
    if (!cursor_.next(entry)) return false;
  } while (!fill(entry, row));
  return true;
}

bool LmdbEntrySamples::pass_over(PassedOver& reason, Bytes key) {
  if (reason.count++ == 0) {
    const std::string_view text = as_text(key);
    reason.first = is_text(text) ? fmt::format("'{}'", text) : fmt::format("{:02x}", fmt::join(key, ""));
  }
  return false;
}

bool LmdbEntrySamples::fill(const LmdbEntry& entry, SampleRow& row) {
  if (entry.flags & kLmdbDuplicates) return pass_over(duplicates_, entry.key);
  if (entry.flags & kLmdbSubTree) return pass_over(databases_, entry.key);
  const std::string_view extension = extension_of_value(cursor_, entry);
  if (!extension.empty()) {
    row.fields.push_back({.name = extension, .part = {}, .offset = entry.offset, .length = entry.length});
  } else if (!fill_from_datum(entry, row)) {
    const bool is_pickle = begins_as_pickle(beginning_of_value(cursor_, entry));
    return pass_over(is_pickle ? pickles_ : others_, entry.key);
  }
  set_key(entry.key, row);
  return true;
}

bool LmdbEntrySamples::fill_from_datum(const LmdbEntry& entry, SampleRow& row) {
  const auto read = [&](std::uint64_t at, std::size_t count) { return cursor_.read(entry, at, count); };
  const std::optional<Datum> datum = read_datum(entry.length, read);
  if (!datum) return false;
  row.label = std::max<std::int64_t>(datum->label.value_or(-1), -1);
  SampleField field{.name = {}, .part = {}, .offset = entry.offset, .length = entry.length};
  if (!datum->is_encoded && read_raw_datum(beginning_of_value(cursor_, entry))) {
    field.name = "datum";
  } else if (datum->has_data && datum->data_length > 0) {
    const std::uint64_t begin = datum->data_begin;
    const std::string_view extension = extension_of_bytes(cursor_.read(
        entry, begin, static_cast<std::size_t>(std::min<std::uint64_t>(kImageBeginningBytes, datum->data_length))));
    field.name = extension.empty() ? "data" : extension;
    field.offset += begin;
    field.length = datum->data_length;
  } else {
    field.name = "datum.pb";
  }
  row.fields.push_back(field);
  return true;
}

void LmdbEntrySamples::set_key(Bytes key, SampleRow& row) {
  const std::string_view text = as_text(key);
  const bool has_integer_size = key.size() == 4 || key.size() == 8;
  if (has_integer_keys_ && has_integer_size) {
    const std::uint64_t number =
        key.size() == 4 ? load_little_endian<std::uint32_t>(key.data()) : load_little_endian<std::uint64_t>(key.data());
    row.key = fmt::format("{}{:08}", key_prefix_, number);
  } else if (!is_text(text)) {
    row.key = has_integer_size ? fmt::format("{}{:08}", key_prefix_, big_endian(key))
                               : fmt::format("{}{:02x}", key_prefix_, fmt::join(key, ""));
  } else if (is_number(text)) {
    row.key.assign(key_prefix_).append(text);
  } else {
    const std::optional<MemberName> split = split_member_name(text);
    const bool is_plain =
        split && is_image_field_name(split->field) && split->field.find('.') == std::string_view::npos;
    row.key = is_plain ? split->key : text;
    const bool has_dot = text.find('.', text.rfind('/') + 1) != std::string_view::npos;
    const bool is_taken = is_plain && split->key == last_plain_key_;  // by "x.jpg", where this is "x.png"
    if (has_dot && (!is_plain || is_taken)) row.key.assign(text).append(kKeyBelowName);
    if (is_plain) last_plain_key_ = split->key;
  }
}

ShardNotes LmdbEntrySamples::take_notes() {
  ShardNotes notes;
  for (const PassedOver* reason : {&databases_, &duplicates_, &pickles_, &others_}) {
    if (reason->count == 0) continue;
    notes.problems.push_back(fmt::format("'{}': skips {} with {}; the first is {}", source_.name(),
                                         counted(reason->count, "key"), reason->with, reason->first));
  }
  return notes;
}

}  // namespace stoker
