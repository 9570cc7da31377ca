#include "stoker/storage/memory_source_testing.h"

#include "stoker/base/error.h"

namespace stoker {

std::uint64_t MemorySource::size(std::string_view part) const {
  require_no_part(name_, part);
  return bytes_.size();
}

void MemorySource::start(ReadRequest& request) {
  request.error = thrown_by([&] {
    require_wanted(name_, request);
    require_no_part(name_, request.part);
    require_range_inside(name_, bytes_.size(), request.offset, request.length());
    const auto length = static_cast<std::size_t>(request.length());
    PieceCursor(request.into).copy_from(Bytes(bytes_).subspan(static_cast<std::size_t>(request.offset), length));
  });
  request.done(request);
}

}  // namespace stoker
