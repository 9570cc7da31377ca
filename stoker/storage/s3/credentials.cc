#include "stoker/storage/s3/credentials.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/storage/http/response_head.h"

namespace stoker {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes kFetchBefore{5};    // keys expire
constexpr seconds kUsableBefore{30};  // a request that is signed now may arrive later
constexpr seconds kBetweenTries{30};
constexpr seconds kLateAnswers{10};

bool is_usable(const Credentials& credentials, WallTime now) {
  return !credentials.expires || *credentials.expires > now + kUsableBefore;
}

std::string sentence_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

WallTime wall_time() { return WallTime(seconds(seconds_since_1970())); }

bool CurrentCredentials::usable(WallTime now) const {
  return looked_ && (!found_ || is_usable(found_->credentials, now));
}

bool CurrentCredentials::needs_fetch(WallTime now) const {
  if (!usable(now)) return true;
  return found_ && found_->credentials.expires && *found_->credentials.expires <= now + kFetchBefore &&
         now >= next_try_;
}

std::optional<AccessKey> CurrentCredentials::key() {
  if (!home_.here()) return latest();
  const WallTime now = now_();
  std::unique_lock fetching(fetching_, std::defer_lock);
  {
    const std::lock_guard guard(lock_);
    if (!needs_fetch(now)) return known();
    if (usable(now) && !fetching.try_lock()) return known();  // another thread fetches them
  }
  if (!fetching.owns_lock()) fetching.lock();
  bool needed;
  {
    const std::lock_guard guard(lock_);
    needed = needs_fetch(now);  // another thread may have fetched them meanwhile
  }
  if (needed) fetch(now);
  const std::lock_guard guard(lock_);
  return known();
}

void CurrentCredentials::fetch(WallTime now) {
  std::optional<FoundCredentials> found;
  const std::string origin_before = origin();
  const auto find = [&] {
    found = find_();
    if (!found && !origin_before.empty()) {
      fail(ErrorKind::kIo, "{} gave keys before, and no place gives any now; check it", origin_before);
    }
    if (!found || is_usable(found->credentials, now)) return;
    fail(ErrorKind::kIo, "{} gives keys that have expired; check it, and this machine's clock", found->origin);
  };
  if (std::exception_ptr failure = thrown_by(find)) {
    const std::lock_guard guard(lock_);
    failure_ = failure;
    next_try_ = now + kBetweenTries;
    if (!usable(now)) std::rethrow_exception(std::move(failure));
    log(LogLevel::kWarning, "the keys for S3 expire soon, and new ones cannot be fetched: {}", sentence_of(failure));
    return;
  }
  const std::lock_guard guard(lock_);
  take(std::move(found), now);
}

void CurrentCredentials::take(std::optional<FoundCredentials> found, WallTime now) {
  const bool same = found_ && found && found_->credentials.key == found->credentials.key;
  if (was_refused_) {
    refused_again_ = same;
    if (!same) changed_ = now;
    was_refused_ = false;
  }
  found_ = std::move(found);
  looked_ = true;
  failure_ = nullptr;
}

bool CurrentCredentials::ready() noexcept {
  if (!home_.here()) return true;
  const WallTime now = now_();
  {
    const std::lock_guard guard(lock_);
    if (!needs_fetch(now) || has_failed(now)) return true;
    if (in_background_) return usable(now);
    in_background_ = true;
  }
  const std::exception_ptr failure = thrown_by([this] { fetch_in_background(); });
  const std::lock_guard guard(lock_);
  if (failure) {  // the machine refuses a thread
    in_background_ = false;
    failure_ = failure;
    next_try_ = now + kBetweenTries;
  }
  return usable(now) || has_failed(now);
}

void CurrentCredentials::fetch_in_background() {
  if (!executor_) executor_ = make_executor_();
  pending_.begin();
  const auto run = [](void* context) noexcept {
    auto& self = *static_cast<CurrentCredentials*>(context);
    const std::exception_ptr failure = thrown_by([&] { self.key(); });
    {
      const std::lock_guard guard(self.lock_);
      self.in_background_ = false;
      if (failure) self.failure_ = failure;
    }
    self.pending_.end();
  };
  if (const std::exception_ptr refused = thrown_by([&] { executor_->submit({run, this}); })) {
    pending_.end();
    std::rethrow_exception(refused);
  }
}

std::optional<AccessKey> CurrentCredentials::latest() const {
  if (!home_.here()) {
    const std::optional<FoundCredentials> found = find_();
    return found ? std::optional(found->credentials.key) : std::nullopt;
  }
  const WallTime now = now_();
  const std::lock_guard guard(lock_);
  if (!usable(now) && has_failed(now)) std::rethrow_exception(failure_);
  return known();
}

std::optional<AccessKey> CurrentCredentials::known() const {
  return found_ ? std::optional(found_->credentials.key) : std::nullopt;
}

std::string CurrentCredentials::origin() const {
  if (!home_.here()) return "";
  const std::lock_guard guard(lock_);
  return found_ ? found_->origin : "";
}

bool CurrentCredentials::refused() {
  if (!home_.here()) return false;
  const WallTime now = now_();
  const std::lock_guard guard(lock_);
  if (!looked_) return true;  // others are being fetched
  // Answers to requests that were signed with the keys before these may still come.
  if (changed_ && now < *changed_ + kLateAnswers) return true;
  if (!found_ || refused_again_) return false;
  was_refused_ = true;
  looked_ = false;
  return true;
}

}  // namespace stoker
