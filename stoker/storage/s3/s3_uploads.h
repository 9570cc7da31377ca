// The uploads in parts that were begun in a bucket, and neither completed nor given up: they cost money until they are
// removed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/s3/replies.h"
#include "stoker/storage/s3/s3_bucket.h"

namespace stoker {

/// Also works when all else was stopped; then it soon gives up. Threads: one.
class S3Uploads {
 public:
  S3Uploads(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket)
      : objects_(std::move(objects)), bucket_(std::move(bucket)) {}

  /// Of objects whose keys begin so. None where the store does not tell. Throws kIo.
  std::vector<OpenUpload> list(const std::string& prefix) const;
  /// It may have been completed or removed already. Throws kIo.
  void remove(const OpenUpload& upload) const;

 private:
  void perform(HttpCall& call, const HttpObject& object, std::string_view doing, std::string_view name,
               std::string* reply = nullptr) const;

  const std::shared_ptr<const HttpObjects> objects_;
  const std::shared_ptr<const S3Bucket> bucket_;
};

/// Carries out a removal; if it fails, warns that parts of what is named so may stay.
void remove_or_warn(std::string_view name, const std::function<void()>& remove) noexcept;

}  // namespace stoker
