// Where the keys of an S3 store come from: the chain of places in which AWS's own tools look, in their order.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "stoker/storage/s3/aws_profiles.h"
#include "stoker/storage/s3/signature.h"

namespace stoker {

using WallTime = std::chrono::sys_seconds;

/// Keys, and when they expire; those that never expire say nothing.
struct Credentials {
  AccessKey key;
  std::optional<WallTime> expires{};
};

/// Keys, and the place that has them: "the environment (AWS_ACCESS_KEY_ID)".
struct FoundCredentials {
  Credentials credentials;
  std::string origin;
};

/// A small request to a service that gives keys.
struct SmallRequest {
  std::string method = "GET";
  std::string url;
  NamedTexts headers{};
  std::string body{};
  std::chrono::milliseconds limit{5000};
};

struct SmallReply {
  int status = 0;
  std::string body;
};

/// Makes a request and waits for its reply, whatever its status. Throws kIo when there is no reply within the limit.
using SmallRequests = std::function<SmallReply(const SmallRequest&)>;

/// What the chain needs of the world.
struct CredentialWorld {
  Environment environment;
  SmallRequests request;
  std::function<WallTime()> now;
};

/// Looks once in all places where AWS's tools look. Nothing if no place has keys: then requests are not signed, and the
/// store serves what is public. Throws kUsage for settings that cannot work, and kIo when a place that must have keys
/// does not give them.
std::optional<FoundCredentials> find_credentials(const CredentialWorld& world, const AwsProfile& profile);

/// The same for Google Cloud Storage, by the HMAC keys that its tools read.
std::optional<FoundCredentials> find_gs_credentials(const Environment& environment);

/// The region that the environment or the profile names; nothing if neither does.
std::optional<std::string> region_of(const Environment& environment, const AwsProfile& profile);

/// Keys that are fetched anew before they expire.
///
/// Threads: any. While one thread fetches new keys, the others use the old ones as long as they are valid.
class CurrentCredentials {
 public:
  using Find = std::function<std::optional<FoundCredentials>()>;
  using Clock = std::function<WallTime()>;

  CurrentCredentials(Find find, Clock now) : find_(std::move(find)), now_(std::move(now)) {}

  /// Throws what `find` throws, once no keys are left that can be used.
  std::optional<AccessKey> key();

  /// The keys that key() gave last, without a wait.
  std::optional<AccessKey> latest() const;

  /// Where the keys come from, for a message about a refusal; empty without keys.
  std::string origin() const;

  /// The keys that were given out are refused: the next call of key() fetches new ones, if they can be fetched.
  void refused();

 private:
  bool needs_fetch(WallTime now) const;
  bool usable(WallTime now) const;
  void fetch(WallTime now);
  std::optional<AccessKey> known() const;

  const Find find_;
  const Clock now_;

  std::mutex fetching_;  // held while keys are fetched, without lock_
  mutable std::mutex lock_;
  bool looked_ = false;
  WallTime next_try_{};  // after a fetch that failed while the old keys were still usable
  std::optional<FoundCredentials> found_;
};

}  // namespace stoker
