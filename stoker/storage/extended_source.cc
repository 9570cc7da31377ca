#include "stoker/storage/extended_source.h"

#include "stoker/base/error.h"

namespace stoker {

std::uint64_t ExtendedSource::append(Bytes bytes) {
  const std::uint64_t offset = begin_ + bytes_.size();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return offset;
}

void ExtendedSource::start(ReadRequest& request) {
  if (request.offset < begin_) return object_->start(request);
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_no_part(name(), request.part);
    const std::uint64_t offset = request.offset - begin_;
    require_range_inside(name(), bytes_.size(), offset, request.length());
    PieceCursor(request.into)
        .copy_from(Bytes(bytes_).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(request.length())));
  });
  request.done(request);
}

void ExtendedSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  if (offset < begin_) object_->will_need(offset, length, part);
}

}  // namespace stoker
