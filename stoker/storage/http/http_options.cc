#include "stoker/storage/http/http_options.h"

#include <curl/curl.h>
#include <unistd.h>

#include <cstdlib>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

constexpr const char* kPatienceVariable = "STOKER_HTTP_PATIENCE";
constexpr double kPatienceLeast_s = 0.1, kPatienceMost_s = 86'400;

// Where the distributions keep the certificates that they trust: a libcurl that was built on another one looks
// elsewhere.
constexpr const char* kCertificates[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Empty where libcurl's own place will do.
std::string systems_certificates() {
  const curl_version_info_data* const curl = ::curl_version_info(CURLVERSION_NOW);
  if (curl->cainfo != nullptr && ::access(curl->cainfo, R_OK) == 0) return "";
  for (const char* const path : kCertificates) {
    if (::access(path, R_OK) == 0) return path;
  }
  return "";
}

}  // namespace

HttpOptions HttpOptions::from_environment() {
  HttpOptions options;
  options.ca_file = environment_text("CURL_CA_BUNDLE");
  if (options.ca_file.empty()) options.ca_file = environment_text("AWS_CA_BUNDLE");
  if (options.ca_file.empty()) {
    options.ca_folder = environment_text("SSL_CERT_DIR");
    options.ca_file = environment_text("SSL_CERT_FILE");
  }
  if (options.ca_file.empty() && options.ca_folder.empty()) options.ca_file = systems_certificates();
  if (const std::string text = environment_text(kPatienceVariable); !text.empty()) {
    const auto seconds = parse_number<double>(text);
    if (!seconds || !(*seconds >= kPatienceLeast_s && *seconds <= kPatienceMost_s)) {
      fail(ErrorKind::kUsage, "{}='{}' is not a number of seconds from {} to {}", kPatienceVariable, text,
           kPatienceLeast_s, kPatienceMost_s);
    }
    options.patience = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1e3));
    options.patience_answered = 6 * options.patience;
    options.stall_max = options.patience / 3;
    options.connect_max = options.patience / 3;
  }
  return options;
}

}  // namespace stoker
