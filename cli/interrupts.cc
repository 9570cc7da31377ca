#include "cli/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "stoker/base/error.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

constexpr const char* kCannotWatch = "cannot watch for signals";

int checked(int descriptor) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), kCannotWatch);
  return descriptor;
}

template <typename Watch>
std::thread started(const Watch& watch) {
  try {
    return std::thread(watch);
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), kCannotWatch);
  }
}

}  // namespace

Interrupts::Interrupts() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);  // threads started later inherit it
  signals_ = checked(::signalfd(-1, &watched, SFD_CLOEXEC));
  closing_ = checked(::eventfd(0, EFD_CLOEXEC));
  watcher_ = started([this] { watch(); });
}

Interrupts::~Interrupts() {
  ::eventfd_write(closing_, 1);
  watcher_.join();
  ::close(closing_);
  ::close(signals_);
}

void Interrupts::watch() {
  for (;;) {
    pollfd watched[] = {{signals_, POLLIN, 0}, {closing_, POLLIN, 0}};
    if (::poll(watched, std::size(watched), -1) < 0) continue;  // EINTR
    if (watched[1].revents) return;
    signalfd_siginfo signal;
    if (::read(signals_, &signal, sizeof(signal)) == sizeof(signal)) raise();
  }
}

void Interrupts::raise() {
  std::unique_lock lock(mutex_);
  if (!stop_ || raised_) {
    set_status_line("");
    remove_unfinished_files();
    std::_Exit(kExitInterrupted);
  }
  raised_ = true;
  changed_.notify_all();
  stop_();  // under the lock: its scope exists until this returns
}

void Interrupts::wait_until(std::int64_t deadline_ns) {
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline, [this] { return raised(); })) fail(ErrorKind::kClosed, "stopped");
}

Interrupts::Scope::Scope(Interrupts& interrupts, std::function<void()> stop) : interrupts_(interrupts) {
  const std::lock_guard lock(interrupts_.mutex_);
  interrupts_.stop_ = std::move(stop);
}

Interrupts::Scope::~Scope() {
  const std::lock_guard lock(interrupts_.mutex_);
  interrupts_.stop_ = nullptr;
}

}  // namespace stoker
