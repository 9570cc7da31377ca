#include "stoker/plan/field_text.h"

#include <algorithm>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/json_text.h"
#include "stoker/plan/json_number_reader.h"

namespace stoker {
namespace {

/// The longest beginning of so many bytes at most that ends between two characters of UTF-8.
std::size_t whole_characters(Bytes text, std::size_t most) {
  constexpr std::uint8_t kContinues = 0x80, kMask = 0xC0;
  while (most > 0 && (text[most] & kMask) == kContinues) --most;
  return most;
}

}  // namespace

void write_field_text(Bytes field, const TextOptions& options,
                      const std::function<MutableBytes(const Shape& shape)>& place) {
  std::string in_json;
  Bytes bytes = field;
  const bool is_lacking = field.empty() && options.is_optional;
  if (!options.key.empty() && !is_lacking) {
    in_json = json_text(field, options.key, options.is_optional);
    bytes = as_bytes(in_json);
  }
  const auto most = static_cast<std::size_t>(options.most);
  if (bytes.size() > most) {
    if (!options.cuts) {
      fail(ErrorKind::kBadSample, "it has {}, and there is room for {}: use a larger most, or longer='cut'",
           byte_count(bytes.size()), most);
    }
    bytes = bytes.first(options.is_text ? whole_characters(bytes, most) : most);
  }
  if (options.is_text && !is_utf8(std::string(as_text(bytes)))) {
    fail(ErrorKind::kBadSample, "it is not a text in UTF-8");
  }
  const MutableBytes out = place(Shape{std::ssize(bytes)});
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

}  // namespace stoker
