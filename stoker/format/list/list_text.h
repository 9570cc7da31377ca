// The text of a list, byte by byte from its beginning to its end; a stretch of it can be held. With it what all kinds
// of lists need: JSON values are passed over without memory for them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// Threads: one.
class ListText {
 public:
  static constexpr std::size_t kHeldBytesMax = std::size_t{256} << 20;
  static constexpr int kEnd = -1;

  /// The source must outlive it.
  explicit ListText(Source& list) : list_(list), size_(list.size()) { rewind(); }

  /// Back to the beginning, after the mark of UTF-8 if it has one.
  void rewind();

  /// The byte at hand, kEnd after the last. Throws what reading throws, and kData when too much is held.
  int peek() { return at_ < buffer_.size() ? buffer_[at_] : fill(); }
  /// Goes past the byte at hand.
  void skip() {
    if (buffer_[at_++] == '\n') ++line_;
  }
  /// Where the byte at hand is, and its line, from 1.
  std::uint64_t offset() const { return begin_ + at_; }
  std::uint64_t line() const { return line_; }

  /// What follows is held until the next call.
  void hold() { held_ = at_; }
  /// From there to the byte at hand: until the text is read on.
  std::string_view held() const { return as_text(Bytes(buffer_).subspan(held_, at_ - held_)); }

  /// Goes past white space.
  void skip_space();
  /// Goes past the JSON string, list, object or other value at hand, as far as brackets and quotes tell. Throws kData
  /// where the text ends before the value does.
  void skip_json();
  /// Throws kData: the list is damaged at this line.
  [[noreturn]] void fail_here(std::string_view why) const;

 private:
  int fill();
  void skip_json_string();

  Source& list_;
  const std::uint64_t size_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t begin_ = 0;  // of the buffer, in the list
  std::size_t at_ = 0, held_ = 0;
  std::uint64_t line_ = 1;
};

}  // namespace stoker
