#include "stoker/format/lmdb/datum.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>

namespace stoker {
namespace {

using protozero::pbf_wire_type;

enum DatumField : std::uint32_t { kChannels = 1, kHeight, kWidth, kData, kLabel, kFloats, kEncoded };

/// Steps through the fields of the message.
class DatumFields {
 public:
  DatumFields(std::uint64_t length, const ReadMessage& read) : length_(length), read_(read) {}

  /// False after the last.
  bool next() {
    if (at_ == length_) return false;
    const std::uint64_t tag = take_varint();
    constexpr int kTypeBits = 3;
    field_ = tag >> kTypeBits;
    type_ = static_cast<pbf_wire_type>(tag & 7);
    return true;
  }

  bool is(std::uint32_t field, pbf_wire_type type) const { return field_ == field && type_ == type; }
  std::uint64_t position() const { return at_; }

  std::uint64_t take_varint() {
    constexpr std::uint64_t kVarintBytesMax = 10;
    const Bytes bytes = read_(at_, static_cast<std::size_t>(std::min(kVarintBytesMax, length_ - at_)));
    const std::string_view text = as_text(bytes);
    const char* end = text.data();
    const std::uint64_t number = protozero::decode_varint(&end, text.data() + text.size());
    at_ += static_cast<std::uint64_t>(end - text.data());
    return number;
  }

  void skip(std::uint64_t bytes) {
    if (bytes > length_ - at_) throw protozero::end_of_buffer_exception();
    at_ += bytes;
  }

 private:
  const std::uint64_t length_;
  const ReadMessage& read_;
  std::uint64_t at_ = 0, field_ = 0;
  pbf_wire_type type_ = pbf_wire_type::unknown;
};

bool parse_datum(std::uint64_t length, const ReadMessage& read, Datum& into) {
  int sizes = 0;
  for (DatumFields fields(length, read); fields.next();) {
    if (fields.is(kChannels, pbf_wire_type::varint) || fields.is(kHeight, pbf_wire_type::varint) ||
        fields.is(kWidth, pbf_wire_type::varint)) {
      fields.take_varint();
      ++sizes;
    } else if (fields.is(kData, pbf_wire_type::length_delimited)) {
      into.data_length = fields.take_varint();
      into.data_begin = fields.position();
      into.has_data = true;
      fields.skip(into.data_length);
    } else if (fields.is(kLabel, pbf_wire_type::varint)) {
      into.label = static_cast<std::int64_t>(fields.take_varint());
    } else if (fields.is(kEncoded, pbf_wire_type::varint)) {
      into.is_encoded = fields.take_varint() != 0;
    } else if (fields.is(kFloats, pbf_wire_type::fixed32)) {
      into.has_floats = true;
      fields.skip(sizeof(float));
    } else if (fields.is(kFloats, pbf_wire_type::length_delimited)) {
      into.has_floats = true;
      fields.skip(fields.take_varint());
    } else {
      return false;
    }
  }
  constexpr int kSizes = 3;
  return into.has_data || (into.has_floats && sizes == kSizes);
}

}  // namespace

std::optional<Datum> read_datum(std::uint64_t length, const ReadMessage& read) {
  Datum datum;
  try {
    if (!parse_datum(length, read, datum)) return std::nullopt;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return datum;
}

}  // namespace stoker
