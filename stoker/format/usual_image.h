// Which value of a row is the sample's image, in formats whose values have names that users chose: the one of a usual
// name, else the only one that begins as an image. docs/formats.md has the names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace stoker {

/// Knows what the rows of one shard had so far: if their image is the value `image`, a row whose `image` is damaged or
/// missing gets no other picture, such as its mask, in its place. Threads: one.
class UsualImage {
 public:
  /// `names`: the usual ones, in lower case, in the order in which they are looked for; they outlive this object.
  explicit UsualImage(std::span<const std::string_view> names) : names_(names) {}

  /// A value of the row that is not a number.
  struct Value {
    std::string_view name{};       // as written
    std::string_view extension{};  // of an image, as extension_of_bytes() gives it; empty for all else
    bool is_bytes = false;         // neither text nor empty
    bool is_other = false;         // not the row's image, whatever its name: an element of a list
  };

  struct Choice {
    std::optional<std::ptrdiff_t> number{};  // of the value
    std::string_view extension{};            // what its field is named
    bool is_missing = false;                 // other rows have an image: values that are pictures here are not named so
  };

  /// The shard has a column of bytes of that name: before one of its values is seen, it is the image if the name is one
  /// that only images have.
  void expect(std::string_view column);
  /// What is the image of the next row.
  Choice choose(std::span<const Value> values);

 private:
  std::span<const std::string_view> names_;
  std::string_view usual_{};      // the one of the names that the shard's images have
  std::string_view extension_{};  // of the last one
  bool is_seen_ = false;          // it was an image in a row
};

}  // namespace stoker
