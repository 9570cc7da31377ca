#include "stoker/storage/http/response_head.h"

#include <curl/curl.h>

#include <algorithm>
#include <ctime>

#include "stoker/base/parse_number.h"
#include "stoker/base/trimmed.h"

namespace stoker {
namespace {

constexpr std::size_t kValueMax = 4096;  // a value that is longer is of no use
constexpr std::size_t kFieldsMax = 100;
constexpr std::int64_t kRetryAfterMax = std::int64_t{366} * 24 * 3600;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// The status of "HTTP/1.1 206 Partial Content"; nothing for a line that is not a status line.
std::optional<int> parse_status(std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto status = parse_number<int>(line.substr(space + 1, 3));
  return status && *status >= 100 ? status : std::nullopt;
}

/// Appends those of a list "a, b" that change the body, in lower case. "aws-chunked" says how the object was sent to
/// its store, and some stores keep the word, though not the form.
void add_encodings(std::string_view list, std::string& encodings) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string one(trimmed(list.substr(0, comma)));
    std::transform(one.begin(), one.end(), one.begin(), lower);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (one.empty() || one == "identity" || one == "aws-chunked") continue;
    if (!encodings.empty()) encodings += ", ";
    encodings += one;
  }
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view value) {
  value = trimmed(value);
  constexpr std::string_view kUnit = "bytes ";
  if (!same_name(value.substr(0, kUnit.size()), kUnit)) return std::nullopt;
  value = trimmed(value.substr(kUnit.size()));
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view range = value.substr(0, slash), size = value.substr(slash + 1);

  ContentRange parsed;
  if (size != "*") {
    parsed.object_bytes = parse_number<std::uint64_t>(size);
    if (!parsed.object_bytes) return std::nullopt;
  }
  if (range == "*") return parsed.object_bytes ? std::optional(parsed) : std::nullopt;
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_number<std::uint64_t>(range.substr(0, dash));
  const auto last = parse_number<std::uint64_t>(range.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  if (parsed.object_bytes && *last >= *parsed.object_bytes) return std::nullopt;
  parsed.range = ContentRange::Range{*first, *last};
  return parsed;
}

std::optional<std::int64_t> parse_http_date(std::string_view value) {
  const std::string text(trimmed(value.substr(0, kValueMax)));
  const std::time_t time = ::curl_getdate(text.c_str(), nullptr);
  return time < 0 ? std::nullopt : std::optional<std::int64_t>(time);
}

std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t now_s) {
  value = trimmed(value);
  if (const auto seconds = parse_number<std::uint64_t>(value)) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(*seconds, kRetryAfterMax));
  }
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) return kRetryAfterMax;  // larger than any number of ours
  const std::optional<std::int64_t> date = parse_http_date(value);
  if (!date) return std::nullopt;
  return std::clamp<std::int64_t>(*date - now_s, 0, kRetryAfterMax);
}

void ResponseHead::take_line(std::string_view line, std::int64_t now_s) {
  if (const std::optional<int> found = parse_status(line)) {
    *this = {.keeps_fields = keeps_fields};
    status = *found;
    return;
  }
  line = trimmed(line);
  if (line.empty()) {
    complete = status >= 200;
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = trimmed(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1)).substr(0, kValueMax);
  if (keeps_fields && fields.size() < kFieldsMax) {
    std::string& kept = fields.emplace_back(name, value).first;
    std::transform(kept.begin(), kept.end(), kept.begin(), lower);
  }
  if (same_name(name, "Content-Length")) {
    content_length = parse_number<std::uint64_t>(value);
  } else if (same_name(name, "Content-Range")) {
    content_range = parse_content_range(value);
  } else if (same_name(name, "ETag")) {
    tag = value;
  } else if (same_name(name, "Last-Modified")) {
    last_modified = value;
  } else if (same_name(name, "Content-Encoding")) {
    if (content_encoding.size() < kValueMax) add_encodings(value, content_encoding);
  } else if (same_name(name, "Retry-After")) {
    retry_after_s = parse_retry_after(value, now_s);
  } else if (same_name(name, "X-Error-Code")) {
    error_code = value;
  }
}

std::string_view ResponseHead::field(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.first == name; });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t seconds_since_1970() { return std::time(nullptr); }

bool is_strong_tag(std::string_view tag) { return tag.size() >= 2 && tag.front() == '"' && tag.back() == '"'; }

}  // namespace stoker
