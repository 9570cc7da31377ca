// The head of an HTTP/1.1 request, as far as a server of files has to know it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

struct RequestHead {
  std::string method;
  std::string path;                           // decoded, with its first slash
  std::map<std::string, std::string> query;   // decoded
  std::map<std::string, std::string> fields;  // their names in lower case

  /// The field's value; empty without.
  std::string field(const std::string& name) const;
  /// The same for a part of the query.
  std::string queried(const std::string& name) const;
  /// Of the body that follows it.
  std::uint64_t body_bytes() const;
  /// What it does to a store: "read", "list", "put", "delete", "uploads" (listed), and of an upload in parts
  /// "initiate", "part", "complete", "abort"; else "other".
  std::string_view step() const;
  /// Whether it changes what is stored.
  bool writes() const;
};

struct ByteRange {
  std::uint64_t first, length;
};

/// `text` has everything up to the empty line. Nothing if that is not a request.
std::optional<RequestHead> parse_request_head(std::string_view text);

/// What `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-LENGTH` asks for of an object of `size` bytes: a length of 0 if
/// it is outside. Nothing if it is none of these.
std::optional<ByteRange> parse_byte_range(std::string_view text, std::uint64_t size);

/// "a%20b" for "a b"; slashes stay.
std::string percent_encoded(std::string_view text);

}  // namespace stoker
