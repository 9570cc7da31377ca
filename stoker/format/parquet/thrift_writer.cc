#include "stoker/format/parquet/thrift_writer.h"

#include <cassert>

namespace stoker {

void ThriftWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(bits << 1 ^ (0 - (bits >> 63)));
}

void ThriftWriter::field(int number, ThriftType type) {
  const int distance = number - last_.back();
  assert(distance > 0);
  if (distance < 16) {
    bytes_ += static_cast<char>(distance << 4 | static_cast<int>(type));
  } else {
    bytes_ += static_cast<char>(type);
    zigzag(number);
  }
  last_.back() = number;
}

void ThriftWriter::int32(int number, std::int32_t value) {
  field(number, ThriftType::kI32);
  zigzag(value);
}

void ThriftWriter::int64(int number, std::int64_t value) {
  field(number, ThriftType::kI64);
  zigzag(value);
}

void ThriftWriter::binary(int number, std::string_view value) {
  field(number, ThriftType::kBinary);
  binary_element(value);
}

void ThriftWriter::binary_element(std::string_view value) {
  varint(value.size());
  bytes_ += value;
}

void ThriftWriter::begin_struct(int number) {
  field(number, ThriftType::kStruct);
  begin_element();
}

void ThriftWriter::begin_element() { last_.push_back(0); }

void ThriftWriter::begin_list(int number, ThriftType elements, std::size_t count) {
  field(number, ThriftType::kList);
  const auto type = static_cast<unsigned>(elements);
  if (count < 15) {
    bytes_ += static_cast<char>(count << 4 | type);
  } else {
    bytes_ += static_cast<char>(0xf0 | type);
    varint(count);
  }
}

void ThriftWriter::end_struct() {
  bytes_ += '\0';
  last_.pop_back();
}

}  // namespace stoker
