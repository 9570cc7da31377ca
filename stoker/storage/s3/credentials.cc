#include "stoker/storage/s3/credentials.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes kFetchBefore{5};    // keys expire
constexpr seconds kUsableBefore{30};  // a request that is signed now may arrive later
constexpr seconds kBetweenTries{30};

}  // namespace

bool CurrentCredentials::usable(WallTime now) const {
  return looked_ && (!found_ || !found_->credentials.expires || *found_->credentials.expires > now + kUsableBefore);
}

bool CurrentCredentials::needs_fetch(WallTime now) const {
  if (!usable(now)) return true;
  return found_ && found_->credentials.expires && *found_->credentials.expires <= now + kFetchBefore &&
         now >= next_try_;
}

std::optional<AccessKey> CurrentCredentials::key() {
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
  try {
    found = find_();
  } catch (const Error& error) {
    const std::lock_guard guard(lock_);
    if (!usable(now)) throw;
    next_try_ = now + kBetweenTries;
    log(LogLevel::kWarning, "the keys for S3 expire soon, and new ones cannot be fetched: {}", error.message());
    return;
  }
  const std::lock_guard guard(lock_);
  found_ = std::move(found);
  looked_ = true;
}

std::optional<AccessKey> CurrentCredentials::latest() const {
  const std::lock_guard guard(lock_);
  return known();
}

std::optional<AccessKey> CurrentCredentials::known() const {
  return found_ ? std::optional(found_->credentials.key) : std::nullopt;
}

std::string CurrentCredentials::origin() const {
  const std::lock_guard guard(lock_);
  return found_ ? found_->origin : "";
}

void CurrentCredentials::refused() {
  const std::lock_guard guard(lock_);
  looked_ = false;
}

}  // namespace stoker
