#include "stoker/storage/uring_io.h"

#include <liburing.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

constexpr std::size_t kEntriesPerSlot = 16;      // segments of one submission
constexpr std::uint64_t kWakeUp = 0;             // the tag of a submission for nothing but its completion
constexpr std::size_t kCompletionsAtOnce = 256;  // more are for the next round

std::uint64_t tag_of(std::size_t slot) { return slot + 1; }
std::size_t slot_of(std::uint64_t tag) { return static_cast<std::size_t>(tag) - 1; }

void set_tag(io_uring_sqe* entry, std::uint64_t tag) { entry->user_data = tag; }

std::string refusal(std::string_view call, int error) {
  return fmt::format("io_uring does not work here: {} says '{}'{}", call, std::generic_category().message(error),
                     error == EPERM || error == ENOSYS ? "; containers often forbid it" : "");
}

/// Sends one submission through the ring and back; returns errno or 0.
int round_trip(io_uring& ring, const UringCalls& calls) {
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  const int sent = calls.submit(&ring);
  if (sent < 0) return -sent;
  io_uring_cqe* completion = nullptr;
  int waited;
  do {
    waited = io_uring_wait_cqe(&ring, &completion);
  } while (waited == -EINTR);
  if (waited < 0) return -waited;
  io_uring_cqe_seen(&ring, completion);
  return 0;
}

}  // namespace

struct UringIo::Slot {
  FileRead* read = nullptr;
  bool faulted = false;  // the kernel has called its memory bad once
  std::array<iovec, kEntriesPerSlot> entries;
};

UringCalls UringCalls::real() { return {&io_uring_queue_init, &io_uring_submit}; }

std::string UringIo::why_not(const UringCalls& calls) {
  io_uring ring;
  const int made = calls.set_up(2, &ring, 0);
  if (made < 0) return refusal("io_uring_setup", -made);
  const int error = round_trip(ring, calls);
  io_uring_queue_exit(&ring);
  return error == 0 ? "" : refusal("io_uring_enter", error);
}

UringIo::UringIo(std::shared_ptr<Executor> executor, const UringOptions& options)
    : executor_(std::move(executor)),
      options_(options),
      ring_(std::make_unique<io_uring>()),
      slots_(static_cast<std::size_t>(options.depth)),
      sink_(host_allocator(), kHoleReadMax) {
  assert(options.depth > 0 && options.submission_bytes > 0);
  free_.reserve(slots_.size());
  for (std::size_t slot = slots_.size(); slot > 0; --slot) free_.push_back(slot - 1);
  unsent_.reserve(slots_.size() + 1);
  completions_.reserve(kCompletionsAtOnce);
  // One entry more than there are slots, to wake the reaper with.
  const int made = options_.calls.set_up(static_cast<unsigned>(options.depth) + 1, ring_.get(), 0);
  if (made < 0) throw Error(ErrorKind::kIo, refusal("io_uring_setup", -made));
  io_uring_ring_dontfork(ring_.get());
  executor_->submit({[](void* context) noexcept { static_cast<UringIo*>(context)->reap(); }, this});
}

UringIo::~UringIo() {
  if (!home_.here()) return;
  {
    std::unique_lock lock(mutex_);
    assert(idle());
    stopping_ = true;
    IntrusiveQueue<FileRead> none;
    prepare_wake_up();
    submit(none);
    reaper_ended_.wait(lock, [this] { return !reaping_; });
  }
  io_uring_queue_exit(ring_.get());
}

void UringIo::start(FileRead& read) {
  if (!home_.here()) {
    read_by_preadv(read);
    return read.ended(read);
  }
  read.begin();
  if (read.finished()) return read.ended(read);
  IntrusiveQueue<FileRead> ended;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(read);
    fill(ended);
  }
  while (FileRead* const refused = ended.pop()) refused->ended(*refused);
}

/// Gives waiting reads the slots that are free, and all that is prepared to the kernel.
void UringIo::fill(IntrusiveQueue<FileRead>& ended) {
  while (broken_ == 0 && !free_.empty() && !waiting_.empty()) {
    const std::size_t slot = free_.back();
    free_.pop_back();
    slots_[slot].read = waiting_.pop();
    slots_[slot].faulted = false;
    prepare(slot);
  }
  submit(ended);
  while (broken_ != 0 && !waiting_.empty()) {
    FileRead& read = *waiting_.pop();
    read.take(-broken_);
    ended.push(read);
  }
}

void UringIo::prepare(std::size_t number) {
  Slot& slot = slots_[number];
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  assert(entry && "the ring has an entry for every slot");
  const std::size_t count = slot.read->gather(slot.entries, {sink_.data(), sink_.size()}, options_.submission_bytes);
  io_uring_prep_readv(entry, slot.read->fd, slot.entries.data(), static_cast<unsigned>(count), slot.read->position());
  set_tag(entry, tag_of(number));
  unsent_.push_back(entry);
}

void UringIo::prepare_wake_up() {
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  assert(entry && "the ring has an entry for this");
  io_uring_prep_nop(entry);
  set_tag(entry, kWakeUp);
  unsent_.push_back(entry);
}

void UringIo::submit(IntrusiveQueue<FileRead>& ended) {
  while (!unsent_.empty()) {
    const int sent = options_.calls.submit(ring_.get());
    if (sent > 0) {
      const auto count = std::min<std::ptrdiff_t>(sent, std::ssize(unsent_));  // others may be left from when it broke
      unsent_.erase(unsent_.begin(), unsent_.begin() + count);
    } else if (sent == 0 || sent == -EINTR || sent == -EAGAIN || sent == -EBUSY) {
      ::sched_yield();  // the kernel is short of memory for a moment
    } else {
      // Nothing was taken. What is in the queue cannot be taken back, but made to mean nothing.
      broken_ = -sent;
      for (io_uring_sqe* const entry : unsent_) {
        const std::uint64_t tag = entry->user_data;
        io_uring_prep_nop(entry);
        set_tag(entry, kWakeUp);
        if (tag != kWakeUp) end(slot_of(tag), broken_, ended);
      }
      unsent_.clear();
    }
  }
}

/// Ends the read in a slot, with an error unless `error` is 0.
void UringIo::end(std::size_t number, int error, IntrusiveQueue<FileRead>& ended) {
  FileRead& read = *slots_[number].read;
  if (error != 0) read.take(-error);
  ended.push(read);
  free_.push_back(number);
}

void UringIo::reap() {
  for (bool on = true; on;) {
    completions_.clear();
    io_uring_cqe* completion = nullptr;
    if (io_uring_wait_cqe(ring_.get(), &completion) == 0) {
      std::array<io_uring_cqe*, kCompletionsAtOnce> ready;
      const unsigned count = io_uring_peek_batch_cqe(ring_.get(), ready.data(), ready.size());
      for (unsigned i = 0; i < count; ++i) completions_.push_back({ready[i]->user_data, ready[i]->res});
      io_uring_cq_advance(ring_.get(), count);
    }
    IntrusiveQueue<FileRead> ended;
    {
      const std::lock_guard lock(mutex_);
      use_completions(ended);
      fill(ended);
      on = !(stopping_ && idle());
    }
    // From here on the caller may destroy what has ended; this object waits for the loop.
    while (FileRead* const read = ended.pop()) read->ended(*read);
  }
  const std::lock_guard lock(mutex_);
  reaping_ = false;
  reaper_ended_.notify_all();  // under the lock: who waits for it destroys it
}

void UringIo::use_completions(IntrusiveQueue<FileRead>& ended) {
  for (const Completion& completion : completions_) {
    if (completion.tag == kWakeUp) continue;
    const std::size_t number = slot_of(completion.tag);
    Slot& slot = slots_[number];
    // A thread that ends takes what it has submitted along: the kernel breaks that off, with "bad address" if it was
    // about to go on with it. Submitted again from here it has a thread that stays.
    const bool broken_off = completion.result == -ECANCELED || (completion.result == -EFAULT && !slot.faulted);
    if (completion.result == -EFAULT) slot.faulted = true;
    if (!broken_off && completion.result != -EAGAIN) slot.read->take(completion.result);
    if (slot.read->finished()) {
      end(number, 0, ended);
    } else if (broken_ != 0) {
      end(number, broken_, ended);
    } else {
      prepare(number);
    }
  }
}

bool UringIo::idle() const { return free_.size() == slots_.size() && waiting_.empty(); }

}  // namespace stoker
