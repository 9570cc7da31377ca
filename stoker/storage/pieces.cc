#include "stoker/storage/pieces.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/streamed_copy.h"

namespace stoker {

std::uint64_t length_of(Pieces pieces) {
  std::uint64_t length = 0;
  for (const MutableBytes piece : pieces) length += piece.size();
  return length;
}

void PieceCursor::drop_finished() {
  while (!pieces_.empty() && done_ == pieces_.front().size()) {
    pieces_ = pieces_.subspan(1);
    done_ = 0;
  }
}

std::uint64_t PieceCursor::hole_to_pass(std::uint64_t hole_max) const {
  std::uint64_t length = 0;
  std::size_t skipped = done_;
  for (const MutableBytes piece : pieces_) {
    if (!piece.empty() && !is_hole(piece)) return length > hole_max ? length : 0;
    length += piece.size() - skipped;
    skipped = 0;
  }
  return length;
}

std::uint64_t PieceCursor::stretch(std::uint64_t hole_max) const {
  std::uint64_t length = 0;
  for (PieceCursor place = *this; !place.at_end() && place.hole_to_pass(hole_max) == 0;) {
    const std::size_t left = place.pieces_.front().size() - place.done_;
    length += left;
    place.pass(left);
  }
  return length;
}

void PieceCursor::pass(std::uint64_t bytes) {
  while (bytes > 0 && !at_end()) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, pieces_.front().size() - done_));
    done_ += step;
    bytes -= step;
    drop_finished();
  }
}

void PieceCursor::copy_from(Bytes bytes) {
  while (!bytes.empty() && !at_end()) {
    const MutableBytes piece = pieces_.front();
    const std::size_t step = std::min(bytes.size(), piece.size() - done_);
    if (!is_hole(piece)) streamed_copy(bytes.first(step), piece.data() + done_);
    bytes = bytes.subspan(step);
    pass(step);
  }
}

std::size_t PieceCursor::gather(std::span<iovec> entries, MutableBytes sink, std::uint64_t bytes_max) const {
  std::size_t count = 0;
  PieceCursor place = *this;
  while (count < entries.size() && bytes_max > 0 && !place.at_end() && place.hole_to_pass(sink.size()) == 0) {
    const MutableBytes piece = place.pieces_.front();
    const std::size_t left = piece.size() - place.done_;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes_max));
    assert(!is_hole(piece) || step <= sink.size());
    entries[count++] = {is_hole(piece) ? sink.data() : piece.data() + place.done_, step};
    bytes_max -= step;
    place.pass(step);
  }
  return count;
}

}  // namespace stoker
