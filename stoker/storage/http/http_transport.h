// HTTP for the sources and stores of one data set: one thread takes all of their calls to their end, with connections
// that stay open between them.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"
#include "stoker/storage/http/http_driver.h"
#include "stoker/storage/slow_downs.h"

namespace stoker {

/// Threads: any.
class HttpTransport final : public TrafficMeter, public SlowDownMeter {
 public:
  using MakeExecutor = std::function<std::shared_ptr<Executor>()>;

  /// The first call takes a thread of the executor made then, and keeps it until this is destroyed.
  HttpTransport(HttpOptions options, MakeExecutor make_executor);
  /// Waits until that thread is done with this. No call may be under way. Not to be called from `done`.
  ~HttpTransport() override;
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  const HttpOptions& options() const { return options_; }
  /// Another with a thread as this has one, for what must not wait in it.
  std::shared_ptr<Executor> make_executor() const { return make_executor_(); }
  /// That of the URL: one for all URLs of an origin.
  std::shared_ptr<HttpHost> host_of(std::string_view url);

  /// Starts a call; failures are told through it. `done` may start others. In a forked child, which does not have the
  /// thread, the calling thread does everything before this returns.
  void start(HttpCall& call);
  /// Makes the call and waits for it; its error is the caller's to look at. A stop of the thread (StopScope) ends it.
  /// Not to be called from `done`.
  void perform(HttpCall& call);

  StoreTraffic traffic() const override { return counters_.read(); }
  std::int64_t slow_downs() const override { return counters_.slow_downs(); }

 private:
  void take(HttpCall& call);
  void start_driver();
  void drive();
  void call_here(HttpCall& call);

  const HomeProcess home_{};
  const HttpOptions options_;
  const MakeExecutor make_executor_;
  HttpCounters counters_;

  std::mutex mutex_;
  std::condition_variable driver_ended_;
  std::map<std::string, std::shared_ptr<HttpHost>, std::less<>> hosts_;
  std::shared_ptr<Executor> executor_;  // once there was a call
  std::optional<HttpDriver> driver_;
  IntrusiveQueue<HttpCall> started_;
  bool driver_sleeps_ = false;  // and would miss what is new in started_
  bool stopping_ = false, ended_ = true;
};

}  // namespace stoker
