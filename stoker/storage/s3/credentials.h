// Where the keys of an S3 store come from: the chain of places in which AWS's own tools look, in their order.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"
#include "stoker/base/pending.h"
#include "stoker/storage/s3/aws_profiles.h"
#include "stoker/storage/s3/signature.h"

namespace stoker {

using WallTime = std::chrono::sys_seconds;
/// By this machine's clock.
WallTime wall_time();

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

/// The region that the environment or the profile names; nothing if neither does. Throws kUsage for what cannot be one.
std::optional<std::string> region_of(const Environment& environment, const AwsProfile& profile);

/// Keys that are fetched anew before they expire. Where there were keys once, finding none is a failure like others.
///
/// Threads: any. While one thread fetches new keys, the others use the old ones as long as they are valid. A forked
/// child, where locks may be held for ever, looks for keys each time that it needs them.
class CurrentCredentials {
 public:
  using Find = std::function<std::optional<FoundCredentials>()>;
  using Clock = std::function<WallTime()>;
  using MakeExecutor = std::function<std::shared_ptr<Executor>()>;

  /// The executor, made when it is first needed, is where ready() has keys fetched.
  CurrentCredentials(
      Find find, Clock now, MakeExecutor make_executor = [] { return std::make_shared<InlineExecutor>(); })
      : find_(std::move(find)), now_(std::move(now)), make_executor_(std::move(make_executor)) {}
  /// Waits until keys that are being fetched are there.
  ~CurrentCredentials() = default;
  CurrentCredentials(const CurrentCredentials&) = delete;
  CurrentCredentials& operator=(const CurrentCredentials&) = delete;

  /// Waits for keys, if it has none that can be used. Throws what `find` throws.
  std::optional<AccessKey> key();

  /// Whether latest() has an answer, now. If it has none, or will have none before long, keys are fetched meanwhile.
  /// Never waits, nor fails.
  bool ready() noexcept;

  /// The keys to be used now; nothing if there are none. Never waits. Throws what `find` threw last, if that was why.
  std::optional<AccessKey> latest() const;

  /// Where the keys come from, for a message about a refusal; empty without keys.
  std::string origin() const;

  /// The keys in use are refused as expired. Returns whether asking again may help: after others were fetched.
  bool refused();

 private:
  bool needs_fetch(WallTime now) const;
  bool usable(WallTime now) const;
  bool has_failed(WallTime now) const { return failure_ && now < next_try_; }
  void fetch(WallTime now);
  void take(std::optional<FoundCredentials> found, WallTime now);
  void fetch_in_background();
  std::optional<AccessKey> known() const;

  const Find find_;
  const Clock now_;
  const MakeExecutor make_executor_;
  const HomeProcess home_{};

  std::mutex fetching_;  // held while keys are fetched, without lock_
  mutable std::mutex lock_;
  bool looked_ = false;
  bool in_background_ = false;  // a fetch is under way there, or about to be
  std::exception_ptr failure_;  // of the last fetch
  WallTime next_try_{};         // after it
  std::optional<FoundCredentials> found_;
  bool was_refused_ = false;            // what was found, so that others are fetched
  bool refused_again_ = false;          // which were the same
  std::optional<WallTime> changed_;     // when they were others
  std::shared_ptr<Executor> executor_;  // once it was needed
  Pending pending_;                     // last: what is under way ends before the rest goes
};

}  // namespace stoker
