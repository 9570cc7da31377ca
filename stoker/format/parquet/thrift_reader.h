// Reads what Thrift's compact protocol wrote: the footer and the page headers of Parquet. A struct is a row of fields,
// each a byte of type and distance from the last field's number, and then the value; a field of type 0 ends it.
// Integers are zigzag varints, lists and byte strings have their length in front.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/bytes.h"

namespace stoker {

enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,  // of a field, its value too; of a list's elements, a byte each
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

/// Takes values one after another. All calls throw kData, as a clause that says what is wrong, where the bytes end too
/// early or hold another type. Threads: one.
class ThriftReader {
 public:
  /// Structs, lists and maps inside one another; no file of Parquet needs ten.
  static constexpr int kDepthMax = 24;

  explicit ThriftReader(Bytes bytes) : bytes_(bytes) {}

  /// How many bytes were taken.
  std::size_t position() const { return position_; }
  /// Whether a call failed because the bytes ended: with more of them it might have succeeded.
  bool ran_out() const { return ran_out_; }

  /// Calls `see(number, type)` for each field of a struct; it takes the value, or skip()s it.
  template <typename See>
  void read_struct(const See& see) {
    const Deeper deeper(*this);
    std::int16_t number = 0;
    for (;;) {
      const ThriftType type = next_field(number);
      if (type == ThriftType::kStop) return;
      see(number, type);
    }
  }
  template <typename See>
  void read_struct(ThriftType type, const See& see) {
    require(type, ThriftType::kStruct);
    read_struct(see);
  }

  /// Calls `see(type)` for each element of a list; it takes the element, or skip()s it.
  template <typename See>
  void read_list(ThriftType type, const See& see) {
    require(type, ThriftType::kList);
    const Deeper deeper(*this);
    ThriftType elements = ThriftType::kStop;
    for (std::uint64_t left = begin_list(elements); left > 0; --left) see(elements);
  }

  bool boolean(ThriftType type);
  std::int64_t integer(ThriftType type);
  /// Throws also if it does not fit.
  std::int32_t int32(ThriftType type);
  /// A view of the bytes.
  std::string_view binary(ThriftType type);
  void skip(ThriftType type);

 private:
  class Deeper {
   public:
    explicit Deeper(ThriftReader& reader) : reader_(reader) { reader_.go_deeper(); }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    ThriftReader& reader_;
  };

  static void require(ThriftType type, ThriftType wanted);
  void go_deeper();
  ThriftType next_field(std::int16_t& number);
  std::uint64_t begin_list(ThriftType& elements);
  std::uint64_t varint();
  std::int64_t zigzag();
  Bytes take(std::uint64_t count);
  void skip_map();
  void skip_element(ThriftType type);

  Bytes bytes_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool ran_out_ = false;
};

}  // namespace stoker
