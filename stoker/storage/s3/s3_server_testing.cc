#include "stoker/storage/s3/s3_server_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "stoker/base/parse_number.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/s3/iso_time.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

std::string md5(std::string_view content) {
  std::string digest(16, '\0');
  EXPECT_EQ(EVP_Digest(content.data(), content.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                       EVP_md5(), nullptr),
            1);
  return digest;
}

std::string hex(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string tag_of(std::string_view content) { return fmt::format("\"{}\"", hex(md5(content))); }

S3Server::Asked parsed(const HttpServer::Asked& http) {
  S3Server::Asked asked;
  asked.method = http.method;
  asked.http = http;
  std::string_view target = http.target;
  const std::size_t path_end = std::min(target.find('?'), target.size());
  const std::string path = unescaped_from_url(target.substr(0, path_end));
  const std::size_t slash = std::min(path.find('/', 1), path.size());
  asked.bucket = path.substr(1, slash - 1);
  asked.key = path.substr(std::min(slash + 1, path.size()));
  target.remove_prefix(std::min(path_end + 1, target.size()));
  while (!target.empty()) {
    const std::string_view one = target.substr(0, target.find('&'));
    const std::size_t equals = std::min(one.find('='), one.size());
    asked.query[unescaped_from_url(one.substr(0, equals))] =
        unescaped_from_url(one.substr(std::min(equals + 1, one.size())));
    target.remove_prefix(std::min(one.size() + 1, target.size()));
  }
  return asked;
}

/// "20261125T163000Z"
std::optional<WallTime> parse_compact_time(const std::string& text) {
  if (text.size() != 16) return std::nullopt;
  return parse_iso_time(fmt::format("{}-{}-{}T{}:{}:{}Z", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2),
                                    text.substr(9, 2), text.substr(11, 2), text.substr(13, 2)));
}

HttpServer::Reply xml(std::string_view text) {
  return HttpServer::status(200, "Content-Type: application/xml\r\n",
                            fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", text));
}

}  // namespace

std::string S3Server::Asked::summary() const {
  std::string text = fmt::format("{} {}/{}", method, bucket, key);
  for (const auto& [name, value] : query) text += " " + name;
  return text;
}

S3Server::S3Server(std::string bucket)
    : bucket_(std::move(bucket)),
      http_(std::make_unique<HttpServer>([this](const HttpServer::Asked& asked) { return answer(asked); })) {}

std::map<std::string, std::string> S3Server::environment() const {
  return {{"AWS_ENDPOINT_URL_S3", endpoint()},
          {"AWS_REGION", std::string(kRegion)},
          {"AWS_ACCESS_KEY_ID", key().id},
          {"AWS_SECRET_ACCESS_KEY", key().secret},
          {"AWS_EC2_METADATA_DISABLED", "true"}};
}

void S3Server::accept(AccessKey key) {
  const std::lock_guard lock(mutex_);
  key_ = std::move(key);
}

void S3Server::meddle(Meddle meddle) {
  const std::lock_guard lock(mutex_);
  meddle_ = std::move(meddle);
}

void S3Server::set_page(std::size_t entries) {
  const std::lock_guard lock(mutex_);
  page_ = entries;
}

void S3Server::put(const std::string& key, std::string content) {
  const std::lock_guard lock(mutex_);
  objects_[key] = {content, tag_of(content)};
}

std::optional<std::string> S3Server::get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? std::nullopt : std::optional(found->second.content);
}

std::size_t S3Server::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_.size();
}

void S3Server::complete_upload(const Asked& asked) {
  const std::lock_guard lock(mutex_);
  change_upload(asked);
}

void S3Server::forget_uploads() {
  const std::lock_guard lock(mutex_);
  uploads_.clear();
}

void S3Server::leave_upload(const std::string& key) {
  const std::lock_guard lock(mutex_);
  uploads_[fmt::format("left/{}", ++uploads_begun_)].key = key;
}

std::size_t S3Server::uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

std::vector<std::string> S3Server::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int S3Server::count(std::string_view beginning) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(requests_.begin(), requests_.end(),
                                        [&](const std::string& one) { return one.starts_with(beginning); }));
}

S3Server::Reply S3Server::refusal(int status, std::string_view code, std::string_view more) {
  return HttpServer::status(status, "Content-Type: application/xml\r\n",
                            fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{}</Code>"
                                        "<Message>Because of {}.</Message>{}</Error>",
                                        code, code, more));
}

S3Server::Reply S3Server::answer(const HttpServer::Asked& http) {
  const Asked asked = parsed(http);
  Meddle meddle;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(asked.summary());
    meddle = meddle_;
  }
  std::optional<Reply> other = meddle ? meddle(asked) : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!other) other = refuse_signature(asked);
  if (!other && asked.bucket != bucket_) other = refusal(404, "NoSuchBucket");
  if (other) {
    // The answer to a HEAD has no document.
    return asked.method == "HEAD" ? Reply{other->text.substr(0, other->text.find("\r\n\r\n") + 4), other->after}
                                  : *std::move(other);
  }
  if (asked.key.empty()) return asked.has("uploads") ? list_uploads(asked) : list(asked);
  if (asked.has("uploads") || asked.has("uploadId")) return change_upload(asked);
  if (asked.method == "DELETE") {
    objects_.erase(asked.key);
    return HttpServer::status(204);
  }
  return asked.method == "PUT" ? put_body(asked) : read(asked);
}

std::optional<S3Server::Reply> S3Server::refuse_signature(const Asked& asked) const {
  const HttpServer::Asked& http = asked.http;
  const std::string authorization = http.field("authorization");
  if (authorization.empty()) return key_.id.empty() ? std::nullopt : std::optional(refusal(403, "AccessDenied"));
  if (authorization.find(fmt::format("Credential={}/", key_.id)) == std::string::npos || key_.id.empty()) {
    return refusal(403, "InvalidAccessKeyId");
  }
  if (http.field("x-amz-security-token") != key_.session) return refusal(403, "InvalidToken");
  const std::string digest = http.field("x-amz-content-sha256");
  if (digest != sha256_hex(as_bytes(http.body))) return refusal(400, "XAmzContentSHA256Mismatch");
  const auto time = parse_compact_time(http.field("x-amz-date"));
  if (!time) return refusal(403, "AccessDenied");
  const std::string path = http.target.substr(0, http.target.find('?'));
  const RequestToSign signed_request{.method = asked.method,
                                     .host = http.field("host"),
                                     .path = unescaped_from_url(path),
                                     .query = {asked.query.begin(), asked.query.end()},
                                     .headers = {}};
  const NamedTexts fields = RequestSigner(key_, std::string(kRegion)).headers(signed_request, digest, *time);
  return fields.back().second == authorization ? std::nullopt : std::optional(refusal(403, "SignatureDoesNotMatch"));
}

S3Server::Reply S3Server::list(const Asked& asked) const {
  const auto text = [&](const char* name) {
    const auto found = asked.query.find(name);
    return found == asked.query.end() ? std::string() : found->second;
  };
  const std::string prefix = text("prefix"), delimiter = text("delimiter"), after = text("continuation-token");
  const std::size_t most = std::min<std::size_t>(page_, parse_number<std::size_t>(text("max-keys")).value_or(page_));
  std::string entries, last;
  std::size_t count = 0;
  bool truncated = false;
  for (auto found = objects_.lower_bound(prefix); found != objects_.end() && found->first.starts_with(prefix);
       ++found) {
    const std::string& key = found->first;
    const std::size_t end = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    const std::string entry = end == std::string::npos ? key : key.substr(0, end + delimiter.size());
    if (entry <= after || entry == last) continue;
    if (count == most) {
      truncated = true;
      break;
    }
    ++count;
    last = entry;
    const std::string shown = escaped_for_url(entry, true);
    entries += end == std::string::npos
                   ? fmt::format(
                         "<Contents><Key>{}</Key><LastModified>2026-11-25T16:00:00.000Z</LastModified>"
                         "<ETag>&quot;{}&quot;</ETag><Size>{}</Size></Contents>",
                         shown, found->second.tag.substr(1, found->second.tag.size() - 2), found->second.content.size())
                   : fmt::format("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", shown);
  }
  return xml(fmt::format(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url"
      "</EncodingType><IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
      truncated, truncated ? fmt::format("<NextContinuationToken>{}</NextContinuationToken>", last) : "", entries));
}

/// In the order of their identities; a page ends with one.
S3Server::Reply S3Server::list_uploads(const Asked& asked) const {
  const auto marker = asked.query.find("upload-id-marker");
  std::string entries;
  std::size_t count = 0;
  for (const auto& [id, upload] : uploads_) {
    if (!upload.key.starts_with(asked.query.at("prefix"))) continue;
    if (marker != asked.query.end() && id <= marker->second) continue;
    const std::string key = escaped_for_url(upload.key, true);
    entries += fmt::format("<Upload><Key>{}</Key><UploadId>{}</UploadId></Upload>", key, id);
    if (++count < page_) continue;
    entries += fmt::format(
        "<IsTruncated>true</IsTruncated><NextKeyMarker>{}</NextKeyMarker><NextUploadIdMarker>{}</NextUploadIdMarker>",
        key, id);
    break;
  }
  return xml(fmt::format("<ListMultipartUploadsResult><EncodingType>url</EncodingType>{}</ListMultipartUploadsResult>",
                         entries));
}

S3Server::Reply S3Server::read(const Asked& asked) const {
  const auto found = objects_.find(asked.key);
  if (found == objects_.end()) return asked.method == "HEAD" ? HttpServer::status(404) : refusal(404, "NoSuchKey");
  Reply reply = HttpServer::serve(asked.http, found->second.content, found->second.tag);
  // As S3 does; a listing has it in another form.
  reply.text.insert(reply.text.find("\r\n") + 2, "Last-Modified: Wed, 25 Nov 2026 16:00:00 GMT\r\n");
  return reply;
}

S3Server::Reply S3Server::put_body(const Asked& asked) {
  objects_[asked.key] = {asked.http.body, tag_of(asked.http.body)};
  return HttpServer::status(200, fmt::format("ETag: {}\r\n", tag_of(asked.http.body)));
}

S3Server::Reply S3Server::change_upload(const Asked& asked) {
  if (asked.has("uploads")) {
    const std::string upload = fmt::format("upload/{}+=", ++uploads_begun_);
    uploads_[upload].key = asked.key;
    return xml(
        fmt::format("<InitiateMultipartUploadResult><UploadId>{}</UploadId></InitiateMultipartUploadResult>", upload));
  }
  const auto upload = uploads_.find(asked.query.at("uploadId"));
  if (upload == uploads_.end()) return refusal(404, "NoSuchUpload");
  if (asked.method == "PUT") {
    upload->second.parts[*parse_number<int>(asked.query.at("partNumber"))] = asked.http.body;
    return HttpServer::status(200, fmt::format("ETag: {}\r\n", tag_of(asked.http.body)));
  }
  if (asked.method == "DELETE") {
    uploads_.erase(upload);
    return HttpServer::status(204);
  }
  Reply reply = complete(asked, upload->second.parts);
  if (reply.text.starts_with("HTTP/1.1 200")) uploads_.erase(upload);
  return reply;
}

S3Server::Reply S3Server::complete(const Asked& asked, const Parts& parts) {
  std::vector<std::string> tags;
  std::string whole, sums;
  for (const auto& [number, content] : parts) {
    if (number != static_cast<int>(tags.size()) + 1) return refusal(400, "InvalidPartOrder");
    if (number < static_cast<int>(parts.size()) && content.size() < (5 << 20)) return refusal(400, "EntityTooSmall");
    tags.push_back(tag_of(content));
    whole += content;
    sums += md5(content);
  }
  if (asked.http.body != completed_upload(tags)) return refusal(400, "InvalidPart");
  objects_[asked.key] = {std::move(whole), fmt::format("\"{}-{}\"", hex(md5(sums)), tags.size())};
  return xml("<CompleteMultipartUploadResult/>");
}

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::shared_ptr<S3Store> s3_store(const S3Server& server, HttpOptions http, StoreOptions options) {
  return s3_store(server.environment(), std::move(http), std::move(options));
}

std::shared_ptr<S3Store> s3_store(std::map<std::string, std::string> variables, HttpOptions http,
                                  StoreOptions options) {
  return std::make_shared<S3Store>(
      "s3", std::move(options), environment_of(std::move(variables)),
      std::make_shared<HttpTransport>(std::move(http), [] { return std::make_shared<ThreadExecutor>(1); }));
}

}  // namespace stoker
