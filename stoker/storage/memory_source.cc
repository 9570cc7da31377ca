#include "stoker/storage/memory_source.h"

#include <algorithm>

#include "stoker/storage/range_check.h"

namespace stoker {

std::uint64_t MemorySource::size(std::string_view part) const {
  require_no_part(name_, part);
  return bytes_.size();
}

void MemorySource::start(ReadRequest& request) {
  request.error = nullptr;
  try {
    require_no_part(name_, request.part);
    require_range_inside(name_, bytes_.size(), request.offset, request.into.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(request.offset), request.into.size(),
                request.into.begin());
  } catch (...) {
    request.error = std::current_exception();
  }
  request.done(request);
}

}  // namespace stoker
