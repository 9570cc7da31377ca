#include "stoker/storage/s3/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/s3/credentials.h"
#include "stoker/storage/s3/signature.h"

namespace stoker {
namespace {

bool is_true(const std::optional<std::string>& value) {
  return value && (*value == "true" || *value == "True" || *value == "TRUE" || *value == "1");
}

/// Whether a bucket's name can be a part of a host that has a certificate.
bool fits_host(std::string_view bucket) {
  return std::all_of(bucket.begin(), bucket.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; }

/// Whether what follows a host's name is nothing, or a port.
bool ends_in_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.ends_with(']')) return true;
  const auto port = parse_number<std::uint16_t>(authority.substr(colon + 1));
  return port && *port > 0;
}

}  // namespace

std::optional<std::string> custom_endpoint(const Environment& environment, const AwsProfile& profile,
                                           std::string_view service) {
  if (is_true(environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))) return std::nullopt;
  std::string of_service = "AWS_ENDPOINT_URL_" + std::string(service);
  std::transform(of_service.begin(), of_service.end(), of_service.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  for (const std::string& variable : {of_service, std::string("AWS_ENDPOINT_URL")}) {
    if (auto url = environment(variable)) return checked_endpoint(*std::move(url), variable);
  }
  if (auto url = profile.get_for(service, "endpoint_url")) {
    return checked_endpoint(*std::move(url), fmt::format("the profile's {} endpoint_url", service));
  }
  if (auto url = profile.get("endpoint_url")) return checked_endpoint(*std::move(url), "the profile's endpoint_url");
  return std::nullopt;
}

std::string checked_endpoint(std::string url, std::string_view setting) {
  while (url.ends_with('/')) url.pop_back();
  const std::size_t host = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (host == 0 || host == url.size() || url.find_first_of("/?#@", host) != std::string::npos ||
      std::any_of(url.begin(), url.end(), is_blank) || !ends_in_port(std::string_view(url).substr(host))) {
    fail(ErrorKind::kUsage, "{} must be a URL such as \"https://host:port\", without a path or a password", setting);
  }
  // HTTP clients do not send the scheme's own port as a part of the host's name, which is signed.
  const std::string_view own_port = url.starts_with("https://") ? ":443" : ":80";
  if (url.ends_with(own_port)) url.resize(url.size() - own_port.size());
  return url;
}

std::string S3Endpoint::host(std::string_view bucket) const {
  const std::string_view authority = std::string_view(url).substr(url.find("://") + 3);
  return path_style ? std::string(authority) : fmt::format("{}.{}", bucket, authority);
}

std::string S3Endpoint::path(std::string_view bucket, std::string_view key) const {
  return path_style ? fmt::format("/{}{}{}", bucket, key.empty() ? "" : "/", key) : fmt::format("/{}", key);
}

std::string S3Endpoint::url_of(std::string_view bucket, std::string_view key) const {
  return url.substr(0, url.find("://") + 3) + host(bucket) + escaped_for_url(path(bucket, key), true);
}

std::string_view aws_domain(std::string_view region) {
  return region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

S3Endpoint s3_endpoint(const Environment& environment, const AwsProfile& profile, std::string_view bucket) {
  const std::string region = region_of(environment, profile).value_or("us-east-1");
  const auto custom = custom_endpoint(environment, profile, "s3");
  S3Endpoint endpoint{custom.value_or(fmt::format("https://s3.{}.{}", region, aws_domain(region))), region,
                      custom.has_value() || !fits_host(bucket), custom.has_value()};
  const std::string style = profile.get_for("s3", "addressing_style").value_or("auto");
  if (style == "path") {
    endpoint.path_style = true;
  } else if (style == "virtual" || is_true(environment("AWS_VIRTUAL_HOSTED_STYLE_REQUEST"))) {
    endpoint.path_style = false;
  } else if (style != "auto") {
    fail(ErrorKind::kUsage, "the profile '{}' has the addressing_style '{}'; use auto, path or virtual", profile.name(),
         style);
  }
  return endpoint;
}

S3Endpoint gs_endpoint(const Environment& environment) {
  auto custom = environment("STORAGE_EMULATOR_HOST");
  if (custom && custom->find("://") == std::string::npos) custom = "http://" + *custom;
  if (!custom) return {"https://storage.googleapis.com", "auto", true, false};
  return {checked_endpoint(*std::move(custom), "STORAGE_EMULATOR_HOST"), "auto", true, true};
}

bool is_anonymous(const Environment& environment) {
  return is_true(environment("AWS_NO_SIGN_REQUEST")) || is_true(environment("AWS_SKIP_SIGNATURE"));
}

}  // namespace stoker
