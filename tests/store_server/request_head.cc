#include "tests/store_server/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

std::string find_or_empty(const std::map<std::string, std::string>& in, const std::string& name) {
  const auto found = in.find(name);
  return found == in.end() ? "" : found->second;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '%' ? parse_number<unsigned>(text.substr(i + 1, 2), 16) : std::nullopt;
    decoded += code ? static_cast<char>(*code) : text[i];
    if (code) i += 2;
  }
  return decoded;
}

/// What comes before the first `mark`; `text` is left with what follows it.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + mark.size());
  return taken;
}

}  // namespace

std::string RequestHead::field(const std::string& name) const { return find_or_empty(fields, name); }

std::string RequestHead::queried(const std::string& name) const { return find_or_empty(query, name); }

std::uint64_t RequestHead::body_bytes() const {
  return parse_number<std::uint64_t>(field("content-length")).value_or(0);
}

std::string_view RequestHead::step() const {
  const bool has_upload = query.contains("uploadId"), has_uploads = query.contains("uploads");
  if (method == "GET" || method == "HEAD")
    return has_uploads ? "uploads" : query.contains("list-type") ? "list" : "read";
  if (method == "PUT") return has_upload ? "part" : "put";
  if (method == "POST" && (has_upload || has_uploads)) return has_upload ? "complete" : "initiate";
  if (method == "DELETE") return has_upload ? "abort" : "delete";
  return "other";
}

bool RequestHead::writes() const { return method == "PUT" || method == "POST" || method == "DELETE"; }

std::optional<RequestHead> parse_request_head(std::string_view text) {
  RequestHead head;
  head.method = take_until(text, " ");
  std::string_view target = take_until(text, " ");
  if (!take_until(text, "\r\n").starts_with("HTTP/1.") || !target.starts_with('/')) return std::nullopt;
  head.path = percent_decoded(take_until(target, "?"));
  while (!target.empty()) {
    std::string_view value = take_until(target, "&");
    const std::string_view name = take_until(value, "=");
    head.query[percent_decoded(name)] = percent_decoded(value);
  }
  while (!text.empty()) {
    std::string_view value = take_until(text, "\r\n");
    std::string name(take_until(value, ":"));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    while (value.starts_with(' ')) value.remove_prefix(1);
    head.fields[name] = value;
  }
  return head;
}

std::optional<ByteRange> parse_byte_range(std::string_view text, std::uint64_t size) {
  if (!text.starts_with("bytes=")) return std::nullopt;
  text.remove_prefix(6);
  const std::string_view from = take_until(text, "-");
  if (from.empty()) {
    const auto length = parse_number<std::uint64_t>(text);
    if (!length) return std::nullopt;
    return ByteRange{size - std::min(*length, size), std::min(*length, size)};
  }
  const auto first = parse_number<std::uint64_t>(from);
  const auto last = text.empty() ? std::optional(size) : parse_number<std::uint64_t>(text);
  if (!first || !last || *last < *first) return std::nullopt;
  if (*first >= size) return ByteRange{0, 0};
  return ByteRange{*first, std::min(*last, size - 1) - *first + 1};
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~/").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace stoker
