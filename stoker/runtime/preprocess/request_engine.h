// What is behind a Preprocessor: an executor for each thread that may work, helpers beside the callers, and the jobs
// that they share.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "stoker/base/home_process.h"
#include "stoker/codec/decode_limits.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/preprocess/request_batch.h"
#include "stoker/runtime/preprocess/store_access.h"
#include "stoker/runtime/request.h"

namespace stoker {

/// A caller works on its own request, so that a single item costs no waking of another thread; helpers join it where
/// there are several. No more threads work than there are executors: callers wait for one. Threads: any.
class RequestEngine {
 public:
  struct Options {
    int threads = 1;
    DecodeLimits limits{};
    StoreOptions store{};
  };

  /// As Preprocessor().
  RequestEngine(const Recipe& recipe, const Options& options);
  ~RequestEngine();
  RequestEngine(const RequestEngine&) = delete;
  RequestEngine& operator=(const RequestEngine&) = delete;

  const Plan& plan() const { return plan_; }
  int threads() const { return static_cast<int>(executors_.size()); }

  /// As Preprocessor::run().
  std::shared_ptr<const Batch> run(const Request& request, const std::stop_token& stop);

 private:
  struct Job;

  void check(const Request& request) const;
  std::shared_ptr<RequestBatch> begin_batch(const Request& request);
  void read_and_work(Job& job);
  void work_on(Job& job);
  void help();
  void take_part(Job& job, std::unique_lock<std::mutex>& lock);
  void call_functions(Job& job);
  void make(Job& job, std::size_t number, CpuExecutor& executor) const;
  void stop_helpers();

  const HomeProcess home_;
  const Plan plan_;
  const bool outputs_vary_;
  RequestBatches batches_;
  StoreAccess stores_;

  std::mutex mutex_;
  // Guarded by the mutex.
  std::condition_variable work_;     // helpers wait for it,
  std::condition_variable changed_;  // callers for the end of their job, or for an executor
  std::deque<Job*> jobs_;            // with items that no thread has taken
  std::vector<std::unique_ptr<CpuExecutor>> executors_;
  std::vector<CpuExecutor*> idle_;
  bool stopping_ = false;

  std::vector<std::thread> helpers_;  // beside the callers
};

}  // namespace stoker
