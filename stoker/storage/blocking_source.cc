#include "stoker/storage/blocking_source.h"

namespace stoker {

void BlockingSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  // The request itself is the task's context, so that nothing needs to be allocated.
  const auto run = [](void* context) noexcept {
    auto& started = *static_cast<ReadRequest*>(context);
    try {
      static_cast<const BlockingSource*>(started.source)->read(started.offset, started.into, started.part);
    } catch (...) {
      started.error = std::current_exception();
    }
    started.done(started);  // the caller may destroy both the request and this source from here on
  };
  executor_->submit({run, &request});
}

}  // namespace stoker
