// The headers of a JPEG 2000 codestream (ITU-T T.800, annex A).
#pragma once

#include <string_view>

#include "stoker/codec/jpeg2000/jpeg2000_file.h"

namespace stoker {

[[noreturn]] void refuse_jpeg2000(std::string_view because);

/// Reads sizes and components from the codestream. Throws kBadSample as read_jpeg2000 does.
void read_codestream(Jpeg2000Image& image);

/// Big-endian integers, each taken from the beginning of what is left.
class Jpeg2000Bytes {
 public:
  explicit Jpeg2000Bytes(Bytes bytes) : left_(bytes) {}
  std::size_t left() const { return left_.size(); }
  /// Throws kBadSample where fewer bytes are left.
  Bytes take(std::size_t count) {
    if (count > left_.size()) refuse_jpeg2000("it is truncated");
    const Bytes taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  std::uint32_t u8() { return static_cast<std::uint32_t>(number(1)); }
  std::uint32_t u16() { return static_cast<std::uint32_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }

 private:
  Bytes left_;
};

}  // namespace stoker
