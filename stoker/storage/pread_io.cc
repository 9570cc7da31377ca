#include "stoker/storage/pread_io.h"

#include <array>
#include <cerrno>

namespace stoker {
namespace {

/// The task that this thread is in the middle of, if any.
struct ReadTurn {
  const PreadIo* io = nullptr;
  IntrusiveQueue<FileRead> reads;  // to be done before it ends
};
thread_local ReadTurn t_reads;

}  // namespace

void read_by_preadv(FileRead& read, PreadvFunction preadv_once) noexcept {
  alignas(4096) std::array<std::uint8_t, kHoleReadMax> sink;  // left uninitialised: nobody looks at it
  std::array<iovec, 256> entries;
  read.begin();
  while (!read.finished()) {
    const std::size_t count = read.gather(entries, sink, std::numeric_limits<ssize_t>::max());
    const ssize_t got =
        preadv_once(read.fd, entries.data(), static_cast<int>(count), static_cast<off_t>(read.position()));
    read.take(got < 0 ? -errno : got);
  }
}

void PreadIo::start(FileRead& read) {
  read.io = this;
  if (t_reads.io == this) return t_reads.reads.push(read);
  executor_->submit({run, &read});
}

void PreadIo::run(void* context) noexcept {
  auto* read = static_cast<FileRead*>(context);
  const auto* const io = static_cast<const PreadIo*>(read->io);
  const PreadvFunction preadv_once = io->preadv_once_;
  const ReadTurn outer = std::exchange(t_reads, ReadTurn{io, {}});  // an executor may run tasks within tasks
  for (; read; read = t_reads.reads.pop()) {
    read_by_preadv(*read, preadv_once);
    read->ended(*read);  // the caller may destroy both the read and this object from here on
  }
  t_reads = outer;
}

}  // namespace stoker
