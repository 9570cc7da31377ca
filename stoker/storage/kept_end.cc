#include "stoker/storage/kept_end.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {

void KeptEnd::fetch(Pending& reads) {
  if (!source_->is_remote()) return;
  const std::exception_ptr ignored = thrown_by([&] {  // a reader gets the error
    const std::uint64_t size = source_->size();
    auto kept = std::make_shared<Kept>();
    kept->bytes.resize(static_cast<std::size_t>(std::min(size, kBytes)));
    kept->into = kept->bytes;
    kept->request.offset = size - kept->bytes.size();
    kept->request.into = Pieces(&kept->into, 1);
    kept_ = std::move(kept);
  });
  if (!ignored) start_pending(*source_, kept_->request, reads);
}

void KeptEnd::fetch() {
  Pending reads;
  fetch(reads);
}

bool KeptEnd::keeps(std::uint64_t offset, std::uint64_t length) const {
  if (!kept_ || kept_->request.error || offset < kept_->request.offset) return false;
  const std::uint64_t begin = offset - kept_->request.offset, size = kept_->bytes.size();
  return begin <= size && length <= size - begin;
}

void KeptEnd::read(std::uint64_t offset, MutableBytes into) const {
  if (!keeps(offset, into.size())) return read_fully(*source_, offset, into);
  const auto from = kept_->bytes.begin() + static_cast<std::ptrdiff_t>(offset - kept_->request.offset);
  std::copy(from, from + static_cast<std::ptrdiff_t>(into.size()), into.begin());
}

}  // namespace stoker
