#include "stoker/storage/pread_io.h"

#include <array>
#include <cerrno>

#include "stoker/storage/run_in_turn.h"

namespace stoker {

void read_by_preadv(FileRead& read, PreadvFunction preadv_once) noexcept {
  alignas(4096) std::array<std::uint8_t, kHoleReadMax> sink;  // left uninitialised: its bytes are not used
  std::array<iovec, 256> entries;
  read.begin();
  while (!read.finished()) {
    const std::size_t count = read.gather(entries, sink, std::numeric_limits<ssize_t>::max());
    const ssize_t got =
        preadv_once(read.fd, entries.data(), static_cast<int>(count), static_cast<off_t>(read.position()));
    read.take(got < 0 ? -errno : got);
  }
}

FileRead read_by_preadv(int fd, std::uint64_t offset, Pieces into) noexcept {
  FileRead read;
  read.fd = fd;
  read.offset = offset;
  read.into = into;
  read_by_preadv(read);
  return read;
}

void PreadIo::start(FileRead& read) {
  read.io = this;
  if (!leave_to_turn(this, IntrusiveQueue(read))) executor_->submit({run, &read});
}

void PreadIo::run(void* context) noexcept {
  auto& first = *static_cast<FileRead*>(context);
  run_in_turn(first.io, IntrusiveQueue(first),
              [preadv_once = static_cast<const PreadIo*>(first.io)->preadv_once_](FileRead& read) {
                read_by_preadv(read, preadv_once);
                read.ended(read);  // the caller may destroy both the read and this object from here on
              });
}

}  // namespace stoker
