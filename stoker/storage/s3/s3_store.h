// S3 and stores that speak its protocol, "s3://bucket/key" and "gs://bucket/key": one store for each scheme.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/storage/s3/s3_folder.h"
#include "stoker/storage/store.h"
#include "stoker/storage/store_options.h"

namespace stoker {

class S3Store final : public Store {
 public:
  /// `scheme`: "s3" or "gs". Keys and settings are looked for when the first bucket is used.
  S3Store(std::string scheme, StoreOptions options, Environment environment, std::shared_ptr<HttpTransport> transport)
      : S3Store(std::move(scheme), std::move(options), std::move(environment),
                std::make_shared<HttpObjects>(std::move(transport)), true) {}
  /// `is_sole_writer`: nothing else writes the objects that it writes while it does.
  S3Store(std::string scheme, StoreOptions options, Environment environment, std::shared_ptr<const HttpObjects> objects,
          bool is_sole_writer);

  std::string_view scheme() const override { return scheme_; }
  /// A key that no object has is a folder if those of objects begin with it and a slash. Throws kUsage for settings
  /// that make no sense.
  std::optional<ObjectFacts> find(const Location& at) const override;
  ObjectFacts stat(const Location& at, std::string_view doing) const override;
  void expect(std::span<const Location> objects) const override;
  void expect_folder(const Location& folder, std::string_view file) const override;
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  void remove_unfinished(const Location& folder) const override;
  std::shared_ptr<const Store> for_writer(std::string_view writer) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return objects_->meter(); }

 private:
  struct Place {
    std::shared_ptr<const S3Bucket> bucket;
    std::string key;
    HttpObject object() const { return bucket->object(key); }
  };

  Place place_of(const Location& at) const;
  std::shared_ptr<const S3Bucket> make_bucket(const std::string& name) const;
  S3Endpoint endpoint_of(const std::string& bucket, const AwsProfile& profile) const;
  std::string region_of_bucket(const std::string& bucket, const S3Endpoint& endpoint) const;
  std::shared_ptr<CurrentCredentials> credentials() const;
  bool is_folder(const Place& place, std::string_view doing) const;
  void list_their_folder(std::span<const Location> objects) const;

  const std::string scheme_;
  const StoreOptions options_;
  const Environment environment_;
  const std::shared_ptr<const HttpObjects> objects_;
  const bool is_sole_writer_;

  mutable std::mutex mutex_;  // held while a bucket's keys and region are looked for, which others would ask for, too
  mutable std::shared_ptr<CurrentCredentials> credentials_;
  mutable std::map<std::string, std::shared_ptr<const S3Bucket>> buckets_;
};

}  // namespace stoker
