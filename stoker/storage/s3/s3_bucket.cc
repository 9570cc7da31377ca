#include "stoker/storage/s3/s3_bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/storage/http/http_call.h"
#include "stoker/storage/s3/replies.h"

namespace stoker {
namespace {

std::string_view name_of(HttpCall::Method method) {
  switch (method) {
    case HttpCall::Method::kHead: return "HEAD";
    case HttpCall::Method::kGet: return "GET";
    case HttpCall::Method::kPut: return "PUT";
    case HttpCall::Method::kPost: return "POST";
    case HttpCall::Method::kDelete: return "DELETE";
  }
  return "";
}

/// A refusal that may pass, by its code: stores also give these with status 400, which else is final.
struct PassingRefusal {
  std::string_view code;
  bool slow_down;  // the store is asked too often
};

constexpr PassingRefusal kPassing[] = {
    {"SlowDown", true},
    {"Throttling", true},
    {"ThrottlingException", true},
    {"ThrottledException", true},
    {"RequestThrottled", true},
    {"RequestThrottledException", true},
    {"TooManyRequests", true},
    {"TooManyRequestsException", true},
    {"RequestLimitExceeded", true},
    {"BandwidthLimitExceeded", true},
    {"RequestTimeout", false},
    {"OperationAborted", false},
    {"InternalError", false},
    // The body was damaged on its way.
    {"IncompleteBody", false},
    {"BadDigest", false},
    {"XAmzContentSHA256Mismatch", false},
};

/// Null if it will not pass.
const PassingRefusal* find_passing(std::string_view code) {
  const auto* const found = std::find_if(std::begin(kPassing), std::end(kPassing),
                                         [&](const PassingRefusal& one) { return one.code == code; });
  return found == std::end(kPassing) ? nullptr : found;
}

/// What is signed of a request for a URL that S3Bucket::object() made.
RequestToSign request_to_sign(HttpCall::Method method, std::string_view url) {
  RequestToSign request{.method = std::string(name_of(method)), .host = {}, .path = {}, .query = {}, .headers = {}};
  url.remove_prefix(url.find("://") + 3);
  const std::size_t path = url.find('/'), path_end = url.find('?');
  request.host = url.substr(0, path);
  request.path = unescaped_from_url(url.substr(path, path_end - path));
  if (path_end == std::string_view::npos) return request;
  url.remove_prefix(path_end + 1);
  while (!url.empty()) {
    const std::string_view one = url.substr(0, url.find('&'));
    const std::size_t equals = one.find('=');
    request.query.emplace_back(unescaped_from_url(one.substr(0, equals)), unescaped_from_url(one.substr(equals + 1)));
    url.remove_prefix(std::min(one.size() + 1, url.size()));
  }
  return request;
}

}  // namespace

S3Bucket::S3Bucket(std::string_view scheme, std::string name, S3Endpoint endpoint,
                   std::shared_ptr<CurrentCredentials> credentials)
    : scheme_(scheme), name_(std::move(name)), endpoint_(std::move(endpoint)), credentials_(std::move(credentials)) {}

std::string S3Bucket::location_of(std::string_view key) const { return fmt::format("{}://{}/{}", scheme_, name_, key); }

HttpObject S3Bucket::object(std::string_view key, const NamedTexts& query) const {
  std::string url = endpoint_.url_of(name_, key);
  if (!query.empty()) url += "?" + canonical_query(query);
  return {.url = std::move(url), .name = location_of(key), .dialect = shared_from_this()};
}

bool S3Bucket::ready() const { return !credentials_ || credentials_->ready(); }

void S3Bucket::add_fields(const HttpCall& call, std::vector<std::string>& lines) const {
  const std::optional<AccessKey> key = credentials_ ? credentials_->latest() : std::nullopt;
  if (!key) return;
  static const std::string kEmptyDigest = sha256_hex({});
  const std::string_view digest = call.body.empty()          ? std::string_view(kEmptyDigest)
                                  : call.body_digest.empty() ? kUnsignedPayload
                                                             : call.body_digest;
  const NamedTexts fields = [&] {
    const std::lock_guard lock(signer_mutex_);
    if (!signer_ || signer_->key() != *key) signer_.emplace(*key, endpoint_.region);
    return signer_->headers(request_to_sign(call.method, call.url), digest, wall_time());
  }();
  for (const auto& [name, value] : fields) lines.push_back(fmt::format("{}: {}", name, value));
}

std::string S3Bucket::whose_keys() const { return fmt::format("the keys from {}", credentials_->origin()); }

bool S3Bucket::signs() const { return credentials_ && !credentials_->origin().empty(); }

std::string S3Bucket::why_denied() const {
  if (signs()) return fmt::format("access is denied; check whether {} may have it", whose_keys());
  return scheme_ == "gs" ? "access is denied to requests without keys; set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY"
                         : "access is denied to requests without keys; set AWS_ACCESS_KEY_ID and "
                           "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
}

void S3Bucket::explain(const HttpCall& /*call*/, const ResponseHead& head, std::string_view document,
                       Verdict& verdict) const {
  const Refusal refusal = parse_refusal(document);
  const std::string& code = refusal.code;
  const auto refuse = [&](std::string why, ErrorKind error = ErrorKind::kIo) {
    verdict = Verdict::refusal(std::move(why), error);
  };
  const PassingRefusal* const passing = find_passing(code);
  const auto repeat = [&](std::string why) {
    const bool slow_down = verdict.slow_down || (passing && passing->slow_down);
    verdict = Verdict::again(std::move(why));
    verdict.retry_after_s = head.retry_after_s;
    verdict.slow_down = slow_down;
  };
  const std::string region = refusal.region.empty() ? std::string(head.field("x-amz-bucket-region")) : refusal.region;
  if (code == "NoSuchKey" || (code.empty() && head.status == 404)) {
    refuse("there is no such object; check its name", ErrorKind::kNotFound);
  } else if (code == "NoSuchBucket") {
    refuse(fmt::format("there is no bucket '{}' at {}; check its name and the endpoint", name_, endpoint_.url),
           ErrorKind::kNotFound);
  } else if (code == "AccessDenied" || (code.empty() && head.status == 403)) {
    refuse(why_denied());
  } else if ((code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch") && signs()) {
    refuse(fmt::format("the store does not accept {} ({}); check them, and the endpoint", whose_keys(), code));
  } else if ((code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken") && signs()) {
    if (credentials_->refused()) {
      repeat(fmt::format("{} have expired ({})", whose_keys(), code));
    } else {
      refuse(fmt::format("{} have expired ({}); renew them", whose_keys(), code));
    }
  } else if (code == "RequestTimeTooSkewed") {
    refuse("this machine's clock differs too much from the store's; set the clock");
  } else if (!region.empty() && region != endpoint_.region) {
    refuse(
        fmt::format("the bucket is in the region '{}', but requests are for '{}'; set AWS_REGION={} or --store-region",
                    escaped(region), endpoint_.region, escaped(region)));
  } else if (passing) {
    repeat(fmt::format("the store answers '{}' (status {})", code, head.status));
  } else if (code.empty() && head.status / 100 == 3) {
    refuse(fmt::format("{} redirects it (status {}); check the endpoint and the region", endpoint_.url, head.status));
  } else if (!code.empty() && head.status != 412 && head.status != 416) {  // of which the verdict says what they mean
    verdict.why = fmt::format("the store answers '{}' (status {}): {}", escaped(code), head.status,
                              escaped(std::string_view(refusal.message).substr(0, 300)));
  }
}

}  // namespace stoker
