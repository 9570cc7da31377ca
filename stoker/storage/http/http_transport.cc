#include "stoker/storage/http/http_transport.h"

#include <cassert>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/pending.h"
#include "stoker/base/stop_scope.h"
#include "stoker/storage/http/http_url.h"

namespace stoker {

HttpTransport::HttpTransport(HttpOptions options, MakeExecutor make_executor)
    : options_(std::move(options)), make_executor_(std::move(make_executor)) {}

HttpTransport::~HttpTransport() {
  if (!home_.here()) return;
  std::unique_lock lock(mutex_);
  assert(started_.empty());
  stopping_ = true;
  if (driver_) driver_->wake();
  driver_ended_.wait(lock, [this] { return ended_; });
}

std::shared_ptr<HttpHost> HttpTransport::host_of(std::string_view url) {
  if (!home_.here()) return std::make_shared<HttpHost>();  // the lock may be held for ever
  std::string origin = origin_of(url);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<HttpHost>& host = hosts_[std::move(origin)];
  if (!host) host = std::make_shared<HttpHost>();
  return host;
}

void HttpTransport::start(HttpCall& call) {
  if (!home_.here()) return call_here(call);
  // The driver may end a call before take() returns: only a failure to take it is ours to set.
  std::exception_ptr failure = thrown_by([&] { take(call); });
  if (!failure) return;
  call.error = std::move(failure);
  call.done(call);
}

void HttpTransport::take(HttpCall& call) {
  const std::lock_guard lock(mutex_);
  if (!driver_) start_driver();
  started_.push(call);
  if (std::exchange(driver_sleeps_, false)) driver_->wake();
}

void HttpTransport::start_driver() {
  try {
    driver_.emplace(options_, counters_);
    if (!executor_) executor_ = make_executor_();
    executor_->submit({[](void* context) noexcept { static_cast<HttpTransport*>(context)->drive(); }, this});
  } catch (...) {
    driver_.reset();
    throw;
  }
  ended_ = false;
}

void HttpTransport::drive() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ && driver_->idle()) break;
      while (HttpCall* const call = started_.pop()) driver_->add(*call);
      driver_sleeps_ = true;
    }
    IntrusiveQueue<HttpCall> ended = driver_->advance();
    while (HttpCall* const call = ended.pop()) call->done(*call);
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  driver_ended_.notify_all();  // under the lock: the thread that waits may destroy it
}

void HttpTransport::call_here(HttpCall& call) {
  const std::exception_ptr failure = thrown_by([&] {
    HttpCounters counters;
    HttpDriver driver(options_, counters);
    driver.add(call);
    while (driver.advance().empty()) continue;
  });
  if (failure) call.error = failure;
  call.done(call);
}

void HttpTransport::perform(HttpCall& call) {
  if (!call.stop.stop_possible()) call.stop = StopScope::current();
  Pending pending;
  pending.begin();
  call.context = &pending;
  call.done = [](HttpCall& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
  start(call);
  pending.wait();
}

}  // namespace stoker
