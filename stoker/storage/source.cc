#include "stoker/storage/source.h"

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/pending.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/units.h"

namespace stoker {

std::unique_ptr<Folder> Source::list(std::string_view /*part*/) const {
  fail(ErrorKind::kUsage, "'{}' is a file, but a folder is needed", name());
}

void Source::will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/, std::string_view /*part*/) {}

void start_pending(Source& source, ReadRequest& request, Pending& reads) {
  if (!request.stop.stop_possible()) request.stop = StopScope::current();
  reads.begin();
  request.context = &reads;
  request.done = [](ReadRequest& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
  source.start(request);
}

void read_fully(Source& source, std::uint64_t offset, MutableBytes into, std::string_view part) {
  ReadRequest request;
  request.part = part;
  request.offset = offset;
  request.into = Pieces(&into, 1);
  Pending read;
  start_pending(source, request, read);
  read.wait();
  if (request.error) std::rethrow_exception(request.error);
}

std::string read_whole(Source& source) {
  std::string text(source.size(), '\0');
  read_fully(source, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

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
