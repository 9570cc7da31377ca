// The place of data, as the user wrote it: a plain path, which belongs to the local file system, or a URL,
// "s3://bucket/a.tar", which belongs to the store of that scheme.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <string>
#include <string_view>

#include "stoker/storage/shown_url.h"

namespace stoker {

/// Threads: a value.
class Location {
 public:
  Location() = default;
  // Implicit: every path is a location.
  Location(std::string text);
  Location(const char* text) : Location(std::string(text)) {}

  /// As it was written: for stores, never for messages.
  const std::string& text() const { return text_; }
  /// As messages and reports show it: without passwords and signatures. Formatting a location gives this.
  std::string shown() const { return shown_url(text_); }
  /// "s3"; empty for a plain path.
  std::string_view scheme() const { return std::string_view(text_).substr(0, scheme_); }
  bool is_local() const { return scheme_ == 0; }
  bool empty() const { return text_.empty(); }

  /// The last component: "a.tar"; what follows the path of a URL, its query, is no part of it.
  std::string name() const;
  /// The folder that it lies in, without a query; empty for a plain name, which lies in the working directory.
  Location parent() const;
  /// What `relative` names in this folder; a URL or an absolute path stands for itself.
  Location operator/(std::string_view relative) const;
  /// The same with more at the end of its path: "a.tar" + ".sidx".
  Location operator+(std::string_view ending) const;
  /// As it stays right when the working directory changes.
  Location absolute() const;

  bool operator==(const Location& other) const { return text_ == other.text_; }
  std::strong_ordering operator<=>(const Location& other) const { return text_ <=> other.text_; }

 private:
  /// The path of a URL, or the whole path.
  std::string path() const { return text_.substr(root(), end_of_path(text_) - root()); }
  std::size_t root() const { return scheme_ == 0 ? 0 : scheme_ + 3; }  // where what follows "s3://" begins

  std::string text_;
  std::size_t scheme_ = 0;  // its length
};

/// Throws kUsage for a URL: what the user gives by `option` is written to files of this machine alone. And for "~/...",
/// which would make a folder of that name.
void require_local(const std::string& path, std::string_view option);

}  // namespace stoker

template <>
struct fmt::formatter<stoker::Location> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const stoker::Location& location, Context& context) const {
    return fmt::formatter<std::string_view>::format(location.shown(), context);
  }
};
