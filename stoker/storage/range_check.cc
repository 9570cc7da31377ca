#include "stoker/storage/range_check.h"

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

void require_no_part(std::string_view name, std::string_view part) {
  if (!part.empty()) fail(ErrorKind::kNotFound, "'{}' is a single file and has no part '{}'", name, part);
}

void require_range_inside(std::string_view name, std::uint64_t size, std::uint64_t offset, std::uint64_t length) {
  if (offset <= size && length <= size - offset) return;
  fail(ErrorKind::kData, "'{}' has {}, too few for the {} asked for at byte {}; was it truncated or changed?", name,
       byte_count(size), byte_count(length), offset);
}

void require_wanted(std::string_view name, const ReadRequest& request) {
  if (request.stop.stop_requested()) fail(ErrorKind::kClosed, "a read of '{}' was stopped", name);
  constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
  if (request.deadline_ns == kNever || now_ns() <= request.deadline_ns) return;
  fail(ErrorKind::kIo, "cannot read '{}': the read did not start within the time allowed", name);
}

}  // namespace stoker
