#include "stoker/storage/blocking_source.h"

#include "stoker/storage/range_check.h"
#include "stoker/storage/run_in_turn.h"

namespace stoker {

void BlockingSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  IntrusiveQueue<ReadRequest> one(request);
  // The request itself is the task's context, so that nothing needs to be allocated.
  if (!join_turn(executor_.get(), one)) executor_->submit({run, &request});
}

void BlockingSource::run(void* context) noexcept {
  auto& first = *static_cast<ReadRequest*>(context);
  const Executor* const executor = static_cast<const BlockingSource*>(first.source)->executor_.get();
  run_in_turn(executor, IntrusiveQueue<ReadRequest>(first), [](ReadRequest& request) {
    try {
      const auto& source = static_cast<const BlockingSource&>(*request.source);
      require_wanted(source.name(), request);
      source.read(request.offset, request.into, request.part);
    } catch (...) {
      request.error = std::current_exception();
    }
    request.done(request);  // the caller may destroy both the request and its source from here on
  });
}

}  // namespace stoker
