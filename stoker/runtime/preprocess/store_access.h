// The stores that requests read from, which last, with their connections, until a request is stopped: that ends all
// that is asked of servers, and the next request has new ones.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "stoker/runtime/open_stores.h"
#include "stoker/storage/stores.h"

namespace stoker {

/// Threads: any.
class StoreAccess {
 public:
  explicit StoreAccess(StoreOptions options) : options_(std::move(options)) {}

  struct Open {
    explicit Open(const StoreOptions& options) { add_remote_stores(stores, options, stop.get_token()); }

    std::stop_source stop;
    Stores stores;  // local files are read by the calling thread
  };

  /// The same for all callers, until it is stopped.
  std::shared_ptr<Open> get() {
    const std::lock_guard lock(mutex_);
    if (!open_ || open_->stop.stop_requested()) open_ = std::make_shared<Open>(options_);
    return open_;
  }

 private:
  const StoreOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Open> open_;
};

}  // namespace stoker
