#include "stoker/storage/s3/signature.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/http/http_url.h"

namespace stoker {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kSignatureDigits = 2 * kDigestBytes;
constexpr std::size_t kDayDigits = 8;  // with which a time begins
constexpr std::string_view kChunkSignature = ";chunk-signature=";

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, kDigestBytes> digest;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), digest.data(), nullptr) == nullptr) {
    fail(ErrorKind::kIo, "cannot sign a request: OpenSSL refuses HMAC-SHA256");
  }
  return std::string(digest.begin(), digest.end());
}

std::tm in_utc(RequestSigner::Time now) { return fmt::gmtime(std::time_t{now.time_since_epoch().count()}); }
std::string time_of(RequestSigner::Time now) { return fmt::format("{:%Y%m%dT%H%M%SZ}", in_utc(now)); }

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

/// Without spaces around it, and with single ones inside, as receivers compare headers.
std::string with_single_spaces(std::string_view value) {
  std::string single;
  for (const char c : value) {
    if (c != ' ' || (!single.empty() && single.back() != ' ')) single += c;
  }
  if (!single.empty() && single.back() == ' ') single.pop_back();
  return single;
}

/// The value of a header that is there.
const std::string& value_of_header(const NamedTexts& headers, std::string_view name) {
  return std::find_if(headers.begin(), headers.end(), [&](const auto& header) { return header.first == name; })->second;
}

}  // namespace

std::string sha256_hex(Bytes bytes) {
  std::array<unsigned char, kDigestBytes> digest;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    fail(ErrorKind::kIo, "cannot sign a request: OpenSSL refuses SHA-256");
  }
  return to_hex(std::string(digest.begin(), digest.end()));
}

std::string unescaped_from_url(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '%' && text.size() - at > 2;
    const auto byte = escape ? parse_number<unsigned char>(text.substr(at + 1, 2), 16) : std::nullopt;
    plain += byte ? static_cast<char>(*byte) : text[at];
    if (byte) at += 2;
  }
  return plain;
}

std::string canonical_query(NamedTexts query) {
  for (auto& [name, value] : query) {
    name = escaped_for_url(name, false);
    value = escaped_for_url(value, false);
  }
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  return text;
}

const std::string& RequestSigner::signing_key(const std::string& day) {
  if (day == day_) return key_of_day_;
  std::string key = hmac_sha256("AWS4" + key_.secret, day);
  for (const std::string_view part :
       {std::string_view(region_), std::string_view(service_), std::string_view("aws4_request")}) {
    key = hmac_sha256(key, part);
  }
  day_ = day;
  return key_of_day_ = std::move(key);
}

NamedTexts RequestSigner::headers(const RequestToSign& request, std::string_view payload, Time now) {
  const std::string time = time_of(now), day = time.substr(0, kDayDigits);
  NamedTexts added{{"x-amz-date", time}, {"x-amz-content-sha256", std::string(payload)}};
  if (!key_.session.empty()) added.emplace_back("x-amz-security-token", key_.session);

  NamedTexts all{{"host", request.host}};
  for (const NamedTexts* headers : {&request.headers, &std::as_const(added)}) {
    for (const auto& [name, value] : *headers) all.emplace_back(lower_case(name), with_single_spaces(value));
  }
  std::sort(all.begin(), all.end());
  std::string lines, names;
  for (const auto& [name, value] : all) {
    lines += fmt::format("{}:{}\n", name, value);
    names += fmt::format("{}{}", names.empty() ? "" : ";", name);
  }

  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, escaped_for_url(request.path, true),
                  canonical_query(request.query), lines, names, payload);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, region_, service_);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, sha256_hex(as_bytes(canonical)));
  added.emplace_back("Authorization",
                     fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm, key_.id, scope, names,
                                 to_hex(hmac_sha256(signing_key(day), to_sign))));
  return added;
}

SignedChunks::SignedChunks(RequestSigner& signer, const NamedTexts& headers, RequestSigner::Time now) {
  const std::string time = time_of(now), day = time.substr(0, kDayDigits);
  key_ = signer.signing_key(day);
  scope_ = fmt::format("{}\n{}/{}/{}/aws4_request", time, day, signer.region_, signer.service_);
  const std::string& authorization = value_of_header(headers, "Authorization");
  previous_ = authorization.substr(authorization.size() - kSignatureDigits);
}

std::string SignedChunks::header(Bytes chunk) {
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{}", scope_, previous_, sha256_hex({}), sha256_hex(chunk));
  previous_ = to_hex(hmac_sha256(key_, to_sign));
  return fmt::format("{:x}{}{}\r\n", chunk.size(), kChunkSignature, previous_);
}

std::uint64_t SignedChunks::encoded_length(std::uint64_t bytes, std::uint64_t chunk_bytes) {
  const auto encoded = [](std::uint64_t chunk) {
    return fmt::formatted_size("{:x}", chunk) + kChunkSignature.size() + kSignatureDigits + 2 + chunk + 2;
  };
  const std::uint64_t rest = bytes % chunk_bytes;
  return bytes / chunk_bytes * encoded(chunk_bytes) + (rest > 0 ? encoded(rest) : 0) + encoded(0);
}

}  // namespace stoker
