// Where the objects of a bucket are: the URL and the region that follow from the environment and a profile, as AWS's
// and Google's tools read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/storage/s3/aws_profiles.h"

namespace stoker {

/// A service that speaks S3's protocol. Threads: a value.
struct S3Endpoint {
  std::string url;         // "https://s3.eu-west-1.amazonaws.com": without a path
  std::string region;      // what requests are signed for
  bool path_style;         // whether the bucket is the first part of the path, and not of the host
  bool is_custom = false;  // the user named it

  /// The host and the port, as the Host header has them.
  std::string host(std::string_view bucket) const;
  /// From the host's root, not escaped. `key` is empty for the bucket itself.
  std::string path(std::string_view bucket, std::string_view key) const;
  /// Of an object or a bucket, without a query.
  std::string url_of(std::string_view bucket, std::string_view key) const;
};

/// The endpoint that the user set for one of AWS's services, such as "s3" or "sts", or for all of them; nothing if none
/// is set. Throws as checked_endpoint().
std::optional<std::string> custom_endpoint(const Environment& environment, const AwsProfile& profile,
                                           std::string_view service);

/// What the hosts of AWS's services in a region end with: those in China are apart.
std::string_view aws_domain(std::string_view region);

/// The endpoint of "s3://`bucket`". Throws kUsage for settings that cannot work.
S3Endpoint s3_endpoint(const Environment& environment, const AwsProfile& profile, std::string_view bucket);

/// The endpoint of "gs://": Google Cloud Storage by its S3-compatible protocol.
S3Endpoint gs_endpoint(const Environment& environment);

/// An endpoint as the user wrote it, without slashes at its end. Throws kUsage, naming the `setting`, for what is not
/// the URL of a host.
std::string checked_endpoint(std::string url, std::string_view setting);

/// Whether the user asks for requests without a signature.
bool is_anonymous(const Environment& environment);

}  // namespace stoker
