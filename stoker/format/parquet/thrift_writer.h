// Writes Thrift's compact protocol: see thrift_reader.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/parquet/thrift_reader.h"

namespace stoker {

/// Appends values one after another; the outermost struct has begun. Fields of a struct are given in the order of their
/// numbers. Threads: one.
class ThriftWriter {
 public:
  void boolean(int number, bool value) { field(number, value ? ThriftType::kTrue : ThriftType::kFalse); }
  void int32(int number, std::int32_t value);
  void int64(int number, std::int64_t value);
  void binary(int number, std::string_view value);
  void begin_struct(int number);
  /// Elements follow, without numbers.
  void begin_list(int number, ThriftType elements, std::size_t count);
  void begin_element();  // a struct; ends by end_struct()
  void int32_element(std::int32_t value) { zigzag(value); }
  void binary_element(std::string_view value);
  /// Of the outermost struct, too.
  void end_struct();

  const std::string& bytes() const { return bytes_; }

 private:
  void field(int number, ThriftType type);
  void varint(std::uint64_t value);
  void zigzag(std::int64_t value);

  std::string bytes_;
  std::vector<int> last_ = {0};  // number of each open struct
};

}  // namespace stoker
