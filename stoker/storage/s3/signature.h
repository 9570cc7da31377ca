// AWS Signature Version 4, as S3 and the stores that speak its protocol check it: it proves that a request was made by
// the owner of a secret, without sending the secret.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

/// A pair of keys. `session` belongs to keys that expire; empty for others.
struct AccessKey {
  std::string id;
  std::string secret;
  std::string session;

  bool operator==(const AccessKey&) const = default;
};

/// Names and values: of headers, or of a query.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// What of a request is signed: all of it but the body, of which a hash is signed.
struct RequestToSign {
  std::string method;  // "GET"
  std::string host;    // as the Host header has it: with the port, if it is not the scheme's own
  std::string path;    // "/bucket/a b.tar": from the root, not escaped
  NamedTexts query;    // not escaped
  NamedTexts headers;  // those besides Host that the receiver checks
};

/// SHA-256 in lower-case hexadecimal digits: what stands for a body in a signature.
std::string sha256_hex(Bytes bytes);

/// What stands for a body that is not signed: TLS protects it.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
/// What stands for a body whose chunks have signatures of their own (SignedChunks).
inline constexpr std::string_view kSignedChunks = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";

/// The reverse of escaped_for_url(), leaving what is not an escape as it is.
std::string unescaped_from_url(std::string_view text);
/// "a=1&b=x%20y", sorted by name, as a signature and the URL must both have it.
std::string canonical_query(NamedTexts query);

/// Threads: one at a time.
class RequestSigner {
 public:
  RequestSigner(AccessKey key, std::string region, std::string service = "s3")
      : key_(std::move(key)), region_(std::move(region)), service_(std::move(service)) {}

  using Time = std::chrono::sys_seconds;

  const AccessKey& key() const { return key_; }

  /// The headers that must be added to the request. `payload`: the hash of the body, or a word that stands for it.
  NamedTexts headers(const RequestToSign& request, std::string_view payload, Time now);

 private:
  friend class SignedChunks;

  const std::string& signing_key(const std::string& day);

  AccessKey key_;
  std::string region_;
  std::string service_;
  std::string day_, key_of_day_;  // made of four hashes: not for each request
};

/// A body in chunks, each with a signature that continues the one before it: a large object is sent while it is made,
/// and the receiver notices a chunk that is missing, changed or out of place.
///
/// Threads: one at a time.
class SignedChunks {
 public:
  /// `headers`: those that the signer made for the request, with kSignedChunks as the payload.
  SignedChunks(RequestSigner& signer, const NamedTexts& headers, RequestSigner::Time now);

  /// What goes before the bytes of the next chunk; "\r\n" goes after them. An empty chunk ends the body.
  std::string header(Bytes chunk);

  /// The length of a body of `bytes` with all that goes between, in chunks of `chunk_bytes`.
  static std::uint64_t encoded_length(std::uint64_t bytes, std::uint64_t chunk_bytes);

 private:
  std::string key_;
  std::string scope_;  // "TIME\nDATE/REGION/SERVICE/aws4_request"
  std::string previous_;
};

}  // namespace stoker
