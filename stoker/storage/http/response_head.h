// The head of an HTTP response: its status, and the fields that reading by range depends on. Servers write it, so it
// may say anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

/// "bytes 0-99/1000": bytes [first, last] of an object. Without a range ("bytes */1000") it says only the size.
struct ContentRange {
  struct Range {
    std::uint64_t first, last;
    bool operator==(const Range&) const = default;
  };

  std::optional<Range> range{};
  std::optional<std::uint64_t> object_bytes{};
  bool operator==(const ContentRange&) const = default;
};

/// Nothing for what is not of that form, or contradicts itself.
std::optional<ContentRange> parse_content_range(std::string_view value);

/// Seconds from `now_s` on, both since 1970, for "120" and for a date; never negative. Nothing for anything else.
std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t now_s);

/// Seconds since 1970; nothing for what is not a date.
std::optional<std::int64_t> parse_http_date(std::string_view value);

struct ResponseHead {
  int status = 0;
  std::optional<std::uint64_t> content_length{};
  std::optional<ContentRange> content_range{};
  std::string tag{};  // the ETag as it was sent: "..." with its quotes, or W/"..."
  std::string last_modified{};
  std::string content_encoding{};               // in lower case; empty where the body is the object itself
  std::optional<std::int64_t> retry_after_s{};  // from when the line was taken on
  std::string error_code{};                     // X-Error-Code: the Hugging Face hub's word for what is wrong
  bool complete = false;                        // the line that ends it was taken

  bool keeps_fields = false;
  std::vector<std::pair<std::string, std::string>> fields{};  // if it keeps them: all, with their names in lower case

  /// The value of a field that was kept, by its name in lower case; empty without.
  std::string_view field(std::string_view name) const;

  /// Takes the next line, with or without its end. A status line begins another head: of the answer that follows an
  /// interim one. `now_s`: seconds since 1970.
  void take_line(std::string_view line, std::int64_t now_s);
};

/// Seconds since 1970 by the clock that servers' dates are compared with.
std::int64_t seconds_since_1970();

/// Whether it names exactly one version of the object's bytes: "..." does, W/"..." does not.
bool is_strong_tag(std::string_view tag);

}  // namespace stoker
