// A sample's class number as its field "cls" holds it: the same rule for tars and for loose files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

/// More bytes than a number and the white space around it have.
inline constexpr std::size_t kClassNumberBytesMax = 64;

/// A whole number as people and tools write it: digits, perhaps with a sign, white space around them, or a fraction of
/// zeros ("2.0", as pandas writes all numbers of a column where one is missing). `text` is the field's beginning,
/// `length` its length in all.
std::optional<std::int64_t> parse_whole_number(std::string_view text, std::uint64_t length);
/// The same, and nothing for numbers below 0, which mean that the class is unknown.
std::optional<std::int64_t> parse_class_number(std::string_view text, std::uint64_t length);
/// Whether it is a number that is not whole: a target of regression, and not the name of a class, where all are
/// numbers.
bool is_fractional_number(std::string_view text);

/// Reads those of one shard, and remembers which could not be.
class ClassNumbers {
 public:
  /// -1 for numbers below 0, and for what is not a number.
  std::int64_t label_of(std::string_view text, std::uint64_t length, std::string_view key);
  /// Logs a warning if there were such.
  void warn(std::string_view shard) const;

 private:
  std::int64_t unread_ = 0;
  std::string first_;  // key of the first that was not
};

}  // namespace stoker
