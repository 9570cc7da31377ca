#include "stoker/format/parquet/thrift_reader.h"

#include <limits>

#include "stoker/base/error.h"

namespace stoker {
namespace {

ThriftType thrift_type_of(unsigned number) {
  if (number > static_cast<unsigned>(ThriftType::kUuid)) fail(ErrorKind::kData, "it has a value of no known type");
  return static_cast<ThriftType>(number);
}

}  // namespace

void ThriftReader::require(ThriftType type, ThriftType wanted) {
  if (type != wanted) fail(ErrorKind::kData, "it has a value of another type than it should have");
}

void ThriftReader::go_deeper() {
  if (depth_ == kDepthMax) fail(ErrorKind::kData, "its values are nested more than {} deep", kDepthMax);
  ++depth_;
}

Bytes ThriftReader::take(std::uint64_t count) {
  if (count > bytes_.size() - position_) {
    ran_out_ = true;
    fail(ErrorKind::kData, "it ends in the middle of a value");
  }
  const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += taken.size();
  return taken;
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = take(1)[0];
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  fail(ErrorKind::kData, "it has a number of more than 64 bits");
}

std::int64_t ThriftReader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

ThriftType ThriftReader::next_field(std::int16_t& number) {
  const std::uint8_t byte = take(1)[0];
  const ThriftType type = thrift_type_of(byte & 0xfU);
  if (type == ThriftType::kStop) return type;
  const unsigned distance = byte >> 4;
  const std::int64_t next = distance != 0 ? number + static_cast<int>(distance) : zigzag();
  if (next < 0 || next > std::numeric_limits<std::int16_t>::max()) {
    fail(ErrorKind::kData, "it has a field with a number that no field can have");
  }
  number = static_cast<std::int16_t>(next);
  return type;
}

std::uint64_t ThriftReader::begin_list(ThriftType& elements) {
  const std::uint8_t byte = take(1)[0];
  elements = thrift_type_of(byte & 0xfU);
  std::uint64_t count = byte >> 4;
  if (count == 15) count = varint();
  // Each element takes a byte at least.
  if (count > bytes_.size() - position_) {
    ran_out_ = true;
    fail(ErrorKind::kData, "it has a list that is longer than all of it");
  }
  return count;
}

bool ThriftReader::boolean(ThriftType type) {
  if (type != ThriftType::kTrue) require(type, ThriftType::kFalse);
  return type == ThriftType::kTrue;
}

std::int64_t ThriftReader::integer(ThriftType type) {
  if (type == ThriftType::kByte) return static_cast<std::int8_t>(take(1)[0]);
  if (type != ThriftType::kI16 && type != ThriftType::kI32) require(type, ThriftType::kI64);
  return zigzag();
}

std::int32_t ThriftReader::int32(ThriftType type) {
  const std::int64_t value = integer(type);
  if (value != static_cast<std::int32_t>(value)) fail(ErrorKind::kData, "it has a number of more than 32 bits");
  return static_cast<std::int32_t>(value);
}

std::string_view ThriftReader::binary(ThriftType type) {
  require(type, ThriftType::kBinary);
  return as_text(take(varint()));
}

void ThriftReader::skip_element(ThriftType type) {
  // A boolean in a list is a byte of its own, in a field its type.
  if (type == ThriftType::kTrue || type == ThriftType::kFalse) {
    take(1);
  } else {
    skip(type);
  }
}

void ThriftReader::skip_map() {
  const Deeper deeper(*this);
  const std::uint64_t count = varint();
  if (count == 0) return;
  const std::uint8_t types = take(1)[0];
  const ThriftType key = thrift_type_of(types >> 4), value = thrift_type_of(types & 0xfU);
  if (count > bytes_.size() - position_) take(count);  // says that it ends too early
  for (std::uint64_t i = 0; i < count; ++i) {
    skip_element(key);
    skip_element(value);
  }
}

void ThriftReader::skip(ThriftType type) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse: return;
    case ThriftType::kByte: take(1); return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64: varint(); return;
    case ThriftType::kDouble: take(8); return;
    case ThriftType::kBinary: take(varint()); return;
    case ThriftType::kUuid: take(16); return;
    case ThriftType::kMap: skip_map(); return;
    case ThriftType::kStruct: read_struct([this](int, ThriftType field) { skip(field); }); return;
    case ThriftType::kList:
    case ThriftType::kSet: read_list(ThriftType::kList, [this](ThriftType element) { skip_element(element); }); return;
    case ThriftType::kStop: break;
  }
  fail(ErrorKind::kData, "it has a value without a type");
}

}  // namespace stoker
