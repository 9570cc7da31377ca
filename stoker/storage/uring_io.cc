#include "stoker/storage/uring_io.h"

#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/completion_round.h"
#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

constexpr std::size_t kEntriesPerSlot = 256;     // pieces of one submission
constexpr std::uint64_t kWakeUp = 0;             // the tag of the read that ends the driver's wait
constexpr std::size_t kCompletionsAtOnce = 256;  // more are for the next round
constexpr int kRefusalsMax = 10'000;             // of one read, in a row
constexpr std::chrono::milliseconds kPause{1};   // before a kernel is asked again that gives us nothing to wait for

std::uint64_t tag_of(std::size_t slot) { return slot + 1; }
std::size_t slot_of(std::uint64_t tag) { return static_cast<std::size_t>(tag) - 1; }

bool is_passing(int error) { return error == EINTR || error == EAGAIN || error == EBUSY; }

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
  int refusals = 0;  // in a row
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
      wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ring_(std::make_unique<io_uring>()),
      slots_(static_cast<std::size_t>(options.depth)),
      sink_(host_allocator(), kHoleReadMax) {
  assert(options.depth > 0 && options.submission_bytes > 0);
  if (!wake_up_) throw Error(ErrorKind::kIo, refusal("eventfd", errno));
  free_.reserve(slots_.size());
  for (std::size_t slot = slots_.size(); slot > 0; --slot) free_.push_back(slot - 1);
  unsent_.reserve(slots_.size() + 1);
  executor_->submit({[](void* context) noexcept { static_cast<UringIo*>(context)->drive(); }, this});
  std::unique_lock lock(mutex_);
  driver_changed_.wait(lock, [this] { return driver_ != Driver::kBegins; });
  if (made_ != 0) throw Error(ErrorKind::kIo, refusal("io_uring_setup", made_));
}

UringIo::~UringIo() {
  if (!home_.here()) return;
  {
    std::unique_lock lock(mutex_);
    assert(waiting_.empty());
    stopping_ = true;
    driver_changed_.notify_all();
    wake_driver();
    driver_changed_.wait(lock, [this] { return driver_ == Driver::kEnded; });
  }
  io_uring_queue_exit(ring_.get());
}

void UringIo::start(FileRead& read) {
  if (!home_.here()) {
    read_by_preadv(read);
    return read.ended(read);
  }
  read.begin();
  if (!read.finished()) {
    const std::lock_guard lock(mutex_);
    if (broken_ == 0) {
      waiting_.push(read);
      if (std::exchange(driver_sleeps_, false)) wake_driver();
      return;
    }
    read.take(-broken_);
  }
  read.ended(read);
}

void UringIo::wake_driver() const {
  const std::uint64_t one = 1;
  while (::write(wake_up_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
}

void UringIo::drive() {
  {
    // The thread that makes a ring is the one that the kernel expects to use it.
    const std::lock_guard lock(mutex_);
    made_ = make_ring();
    driver_ = made_ == 0 ? Driver::kRuns : Driver::kEnded;
    driver_changed_.notify_all();  // under the lock: the thread that waits may destroy it
    if (made_ != 0) return;
  }
  prepare_wake_up();
  for (;;) {
    Ended ended;
    const bool on = next_round(ended);
    {
      // From here on the caller may destroy what has ended; this object waits for the loop.
      const CompletionRound round;
      while (FileRead* const read = ended.pop()) read->ended(*read);
    }
    if (!on) break;
  }
  const std::lock_guard lock(mutex_);
  driver_ = Driver::kEnded;
  driver_changed_.notify_all();
}

/// Returns 0 or errno.
int UringIo::make_ring() {
  // The kernel then finishes reads when the driver asks for them, instead of interrupting it, and says when there is
  // something to ask for. Linux before 6.1 does not know that.
  constexpr unsigned kFinishWhenAsked =
      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
  const unsigned entries = static_cast<unsigned>(options_.depth) + 1;  // and one to be woken by
  int made = options_.calls.set_up(entries, ring_.get(), kFinishWhenAsked);
  if (made == -EINVAL) made = options_.calls.set_up(entries, ring_.get(), 0);
  if (made < 0) return -made;
  io_uring_ring_dontfork(ring_.get());
  return 0;
}

/// Gives the kernel what was started, takes what it has done, and waits if that is nothing. False at the end.
bool UringIo::next_round(Ended& ended) {
  take_completions(ended);
  {
    std::unique_lock lock(mutex_);
    fill(ended);
    if (broken_ != 0 && idle()) {
      if (ended.empty()) driver_changed_.wait(lock, [this] { return stopping_; });
      return !stopping_;
    }
    if (stopping_ && idle()) return false;
    driver_sleeps_ = ended.empty() && !free_.empty();
  }
  submit(ended);
  const bool none_to_come = broken_ != 0 && idle();
  if (ended.empty() && !none_to_come) wait_for_completions();
  return true;
}

/// Gives waiting reads the slots that are free.
void UringIo::fill(Ended& ended) {
  driver_sleeps_ = false;
  for (; broken_ == 0 && !free_.empty() && !waiting_.empty(); free_.pop_back()) {
    slots_[free_.back()].read = waiting_.pop();
    slots_[free_.back()].refusals = 0;
    prepare(free_.back());
  }
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
  entry->user_data = tag_of(number);
  unsent_.push_back(entry->user_data);
}

void UringIo::prepare_wake_up() {
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  assert(entry && "the ring has an entry for this");
  io_uring_prep_poll_add(entry, wake_up_.get(), POLLIN);
  entry->user_data = kWakeUp;
  unsent_.push_back(kWakeUp);
}

void UringIo::submit(Ended& ended) {
  for (std::chrono::milliseconds waited{0}; !unsent_.empty();) {
    const int sent = options_.calls.submit(ring_.get());
    if (sent > 0) {
      unsent_.erase(unsent_.begin(), unsent_.begin() + sent);
      continue;
    }
    const bool passing = sent == 0 || is_passing(-sent);
    if (passing && kernel_has_reads()) return;  // whose end gives it memory back: then again
    if (!passing || waited >= options_.patience) return fail_unsent(passing ? EAGAIN : -sent, ended);
    pause();
    waited += kPause;
  }
}

/// Until there is nothing left to wait for, or for a while.
void UringIo::pause() {
  std::unique_lock lock(mutex_);
  driver_changed_.wait_for(lock, kPause, [this] { return stopping_; });
}

bool UringIo::kernel_has_reads() const {
  const auto unsent = std::count_if(unsent_.begin(), unsent_.end(), [](std::uint64_t tag) { return tag != kWakeUp; });
  return slots_.size() - free_.size() > static_cast<std::size_t>(unsent);
}

/// What is prepared stays in the queue, which is not submitted any more.
void UringIo::fail_unsent(int error, Ended& ended) {
  for (const std::uint64_t tag : std::exchange(unsent_, {})) {
    if (tag != kWakeUp) end(slot_of(tag), error, ended);
  }
  give_up(error);
}

void UringIo::give_up(int error) {
  const std::lock_guard lock(mutex_);
  broken_ = error;
}

void UringIo::take_wake_up(int result) {
  if (result < 0 && !is_passing(-result)) return give_up(-result);
  std::uint64_t count;
  while (::read(wake_up_.get(), &count, sizeof count) < 0 && errno == EINTR) continue;
  prepare_wake_up();
}

void UringIo::take_completions(Ended& ended) {
  std::array<io_uring_cqe*, kCompletionsAtOnce> ready;
  const unsigned count = io_uring_peek_batch_cqe(ring_.get(), ready.data(), ready.size());
  for (unsigned i = 0; i < count; ++i) {
    if (ready[i]->user_data == kWakeUp) {
      if (broken_ == 0) take_wake_up(ready[i]->res);
    } else {
      complete(slot_of(ready[i]->user_data), ready[i]->res, ended);
    }
  }
  io_uring_cq_advance(ring_.get(), count);
}

void UringIo::complete(std::size_t number, int result, Ended& ended) {
  Slot& slot = slots_[number];
  slot.refusals = result == -EAGAIN ? slot.refusals + 1 : 0;
  if (result != -EAGAIN || slot.refusals == kRefusalsMax) slot.read->take(result);
  if (slot.read->finished()) {
    end(number, 0, ended);
  } else if (broken_ != 0) {
    end(number, broken_, ended);
  } else {
    prepare(number);
  }
}

/// Ends the read in a slot, with an error unless `error` is 0.
void UringIo::end(std::size_t number, int error, Ended& ended) {
  FileRead& read = *slots_[number].read;
  if (error != 0) read.take(-error);
  ended.push(read);
  free_.push_back(number);
}

bool UringIo::idle() const { return free_.size() == slots_.size(); }

void UringIo::wait_for_completions() {
  io_uring_cqe* completion = nullptr;
  const int error = -io_uring_wait_cqe(ring_.get(), &completion);
  if (error <= 0 || is_passing(error)) return;  // interrupted, it is waited for in the next round
  // We may not wait any more. What the kernel has is writing to its memory and must be seen through.
  give_up(error);
  pause();
}

}  // namespace stoker
