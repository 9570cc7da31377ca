#include "stoker/format/list/list_text.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {

void ListText::rewind() {
  constexpr std::uint8_t kByteOrderMark[] = {0xEF, 0xBB, 0xBF};
  buffer_.clear();
  begin_ = 0;
  at_ = held_ = 0;
  line_ = 1;
  fill();
  const bool has_mark =
      buffer_.size() >= 3 && std::equal(std::begin(kByteOrderMark), std::end(kByteOrderMark), buffer_.begin());
  if (has_mark) at_ = held_ = std::size(kByteOrderMark);
}

int ListText::fill() {
  constexpr std::size_t kBlockBytes = 1 << 20;
  const std::uint64_t end = begin_ + buffer_.size();
  if (end == size_) return kEnd;
  if (buffer_.size() - held_ > kHeldBytesMax) fail_here("a value is too long");
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(held_));
  begin_ += held_;
  at_ -= held_;
  held_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, size_ - end)));
  read_fully(list_, end, MutableBytes(buffer_).subspan(kept));
  return buffer_[at_];
}

void ListText::skip_space() {
  for (int c = peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = peek()) skip();
}

void ListText::skip_json_string() {
  skip();
  for (int c = peek(); c != '"'; c = peek()) {
    if (c == kEnd) fail_here("it ends inside a text");
    skip();
    if (c == '\\' && peek() != kEnd) skip();
  }
  skip();
}

void ListText::skip_json() {
  std::uint64_t depth = 0;
  const auto ends_value = [](int c) {
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
  };
  for (;;) {
    const int c = peek();
    if (c == kEnd) {
      if (depth > 0) fail_here("it ends inside a value");
      return;
    }
    if (c == '"') {
      skip_json_string();
      if (depth == 0) return;
      continue;
    }
    if (depth == 0 && ends_value(c)) return;
    skip();
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return;
  }
}

void ListText::fail_here(std::string_view why) const {
  fail(ErrorKind::kData, "'{}' is damaged or truncated at line {}: {}", list_.name(), line_, why);
}

}  // namespace stoker
