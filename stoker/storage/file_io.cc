#include "stoker/storage/file_io.h"

#include <sys/types.h>

#include <cerrno>

namespace stoker {

void FileRead::begin() {
  count = 0;
  error = 0;
  at_file_end = false;
  place = PieceCursor(into);
}

bool FileRead::finished() {
  const std::uint64_t hole = place.hole_to_pass(kHoleReadMax);
  place.pass(hole);
  count += hole;
  constexpr auto kOffsetMax = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (position() > kOffsetMax || position() < offset) at_file_end = true;  // past any file's end
  return place.at_end() || at_file_end || count >= enough;
}

std::size_t FileRead::gather(std::span<iovec> entries, MutableBytes sink, std::uint64_t bytes_max) const {
  return place.gather(entries, sink, bytes_max);
}

void FileRead::take(std::int64_t result) {
  if (result == -EINTR) return;
  if (result < 0) error = static_cast<int>(-result);
  if (result <= 0) {
    at_file_end = true;
    return;
  }
  count += static_cast<std::uint64_t>(result);
  place.pass(static_cast<std::uint64_t>(result));
  if (position() % alignment != 0) at_file_end = true;
}

}  // namespace stoker
