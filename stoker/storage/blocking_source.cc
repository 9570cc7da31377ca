#include "stoker/storage/blocking_source.h"

#include "stoker/storage/intrusive_queue.h"
#include "stoker/storage/range_check.h"

namespace stoker {
namespace {

/// The task that this thread is in the middle of, if any.
struct RequestTurn {
  const Executor* executor = nullptr;
  IntrusiveQueue<ReadRequest> requests;  // to be done before it ends
};
thread_local RequestTurn t_requests;

}  // namespace

void BlockingSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  if (t_requests.executor == executor_.get()) return t_requests.requests.push(request);
  // The request itself is the task's context, so that nothing needs to be allocated.
  executor_->submit({run, &request});
}

void BlockingSource::run(void* context) noexcept {
  auto* request = static_cast<ReadRequest*>(context);
  const Executor* const executor = static_cast<const BlockingSource*>(request->source)->executor_.get();
  const RequestTurn outer =
      std::exchange(t_requests, RequestTurn{executor, {}});  // an executor may run tasks within tasks
  for (; request; request = t_requests.requests.pop()) {
    try {
      const auto& source = static_cast<const BlockingSource&>(*request->source);
      require_wanted(source.name(), *request);
      source.read(request->offset, request->into, request->part);
    } catch (...) {
      request->error = std::current_exception();
    }
    request->done(*request);  // the caller may destroy both the request and its source from here on
  }
  t_requests = outer;
}

}  // namespace stoker
