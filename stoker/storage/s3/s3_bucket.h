// One bucket of S3, or of a store that speaks its protocol: where its objects are, how requests for them are signed,
// and what the store's refusals mean.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/storage/http/http_source.h"
#include "stoker/storage/s3/credentials.h"
#include "stoker/storage/s3/endpoint.h"
#include "stoker/storage/s3/signature.h"

namespace stoker {

/// Threads: any.
class S3Bucket final : public HttpDialect, public std::enable_shared_from_this<S3Bucket> {
 public:
  /// `scheme`: that of its locations. Without credentials its requests are not signed.
  S3Bucket(std::string_view scheme, std::string name, S3Endpoint endpoint,
           std::shared_ptr<CurrentCredentials> credentials);

  const std::string& name() const { return name_; }
  /// Whether the store lists uploads in parts, as far as is known: what it refused once is not asked for again.
  bool lists_uploads() const { return lists_uploads_; }
  void does_not_list_uploads() const { lists_uploads_ = false; }
  /// "s3://bucket/key", as users write it.
  std::string location_of(std::string_view key) const;
  /// The object, or with a query something about it. Without a key it is the bucket.
  HttpObject object(std::string_view key, const NamedTexts& query = {}) const;

  bool ready() const override;
  bool follows_redirects() const override { return false; }  // it leads to another region, for which others are signed
  void add_fields(const HttpCall& call, std::vector<std::string>& lines) const override;
  void explain(const HttpCall& call, const ResponseHead& head, std::string_view document,
               Verdict& verdict) const override;

 private:
  bool signs() const;
  std::string whose_keys() const;
  std::string why_denied() const;

  const std::string scheme_, name_;
  const S3Endpoint endpoint_;
  const std::shared_ptr<CurrentCredentials> credentials_;
  mutable std::atomic<bool> lists_uploads_ = true;
  mutable std::mutex signer_mutex_;
  mutable std::optional<RequestSigner> signer_;  // with the latest key
};

}  // namespace stoker
