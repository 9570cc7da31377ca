#include "stoker/storage/http/fetched_source.h"

#include "stoker/base/error.h"

namespace stoker {

void FetchedSource::start(ReadRequest& request) {
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_no_part(name(), request.part);
    require_range_inside(name(), content_.size(), request.offset, request.length());
    const auto length = static_cast<std::size_t>(request.length());
    PieceCursor(request.into).copy_from(as_bytes(content_).subspan(static_cast<std::size_t>(request.offset), length));
  });
  request.done(request);
}

}  // namespace stoker
