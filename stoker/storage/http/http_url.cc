#include "stoker/storage/http/http_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace stoker {
namespace {

constexpr std::string_view kPlain = "http://", kEncrypted = "https://";

struct UrlParts {
  std::string_view scheme, login, host, rest;  // "https://", "user:password", "host:8080", "/path?query"
};

UrlParts parts_of(std::string_view url) {
  UrlParts parts;
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {.scheme = {}, .login = {}, .host = {}, .rest = url};
  parts.scheme = url.substr(0, scheme + 3);
  url.remove_prefix(scheme + 3);
  const std::size_t host_end = std::min(url.find_first_of("/?#"), url.size());
  parts.rest = url.substr(host_end);
  parts.host = url.substr(0, host_end);
  if (const std::size_t at = parts.host.rfind('@'); at != std::string_view::npos) {
    parts.login = parts.host.substr(0, at);
    parts.host.remove_prefix(at + 1);
  }
  return parts;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

/// Of AWS and CloudFront, Google, and Azure; in lower case.
constexpr std::string_view kSigningParameters[] = {
    "signature", "sig", "expires", "key-pair-id", "policy", "googleaccessid", "awsaccesskeyid", "se",  "st",
    "sp",        "sv",  "sr",      "spr",         "sip",    "skoid",          "sktid",          "skt", "ske",
    "sks",       "skv", "ss",      "srt"};

bool signs(std::string_view parameter) {
  const std::string name = in_lower_case(parameter.substr(0, parameter.find('=')));
  return name.starts_with("x-amz-") || name.starts_with("x-goog-") ||
         std::find(std::begin(kSigningParameters), std::end(kSigningParameters), name) != std::end(kSigningParameters);
}

bool has_signature(std::string_view query) {
  const std::string parameters = '&' + in_lower_case(query);
  constexpr std::string_view kNames[] = {"&x-amz-signature=", "&x-goog-signature=", "&signature=", "&sig="};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return parameters.find(name) != std::string::npos; });
}

}  // namespace

std::string origin_of(std::string_view url) {
  const UrlParts parts = parts_of(url);
  std::string origin = in_lower_case(parts.scheme);
  const bool is_encrypted = origin == kEncrypted;
  origin += in_lower_case(parts.host);
  const std::size_t colon = parts.host.rfind(':');
  const bool has_port = colon != std::string_view::npos && parts.host.find(']', colon) == std::string_view::npos;
  if (!has_port) return origin + (is_encrypted ? ":443" : ":80");
  return colon + 1 == parts.host.size() ? origin + (is_encrypted ? "443" : "80") : origin;
}

std::string_view login_of(std::string_view url) { return parts_of(url).login; }

std::string escaped_for_url(std::string_view text, bool keep_slashes) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string without_signature(std::string_view url) {
  const std::size_t path_end = url.find('?');
  if (path_end == std::string_view::npos || !has_signature(url.substr(path_end + 1))) return std::string(url);
  std::string kept(url.substr(0, path_end));
  char before = '?';
  for (std::size_t begin = path_end + 1; begin < url.size();) {
    const std::size_t end = std::min(url.find('&', begin), url.size());
    const std::string_view parameter = url.substr(begin, end - begin);
    begin = end + 1;
    if (signs(parameter)) continue;
    kept += before;
    kept += parameter;
    before = '&';
  }
  return kept;
}

std::string redirect_target(std::string_view asked, std::string_view target) {
  const UrlParts parts = parts_of(target);
  std::string url(parts.scheme);
  const std::string_view login = login_of(asked);
  if (!login.empty() && origin_of(asked) == origin_of(target)) {
    url += login;
    url += '@';
  }
  url += parts.host;
  url += parts.rest;
  return url;
}

bool may_redirect(std::string_view from, std::string_view to) {
  const std::string from_scheme = in_lower_case(parts_of(from).scheme), to_scheme = in_lower_case(parts_of(to).scheme);
  return to_scheme == kEncrypted || (to_scheme == kPlain && from_scheme == kPlain);
}

}  // namespace stoker
