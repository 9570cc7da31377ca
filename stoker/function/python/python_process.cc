#include "stoker/function/python/python_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/function/python/host_source.h"
#include "stoker/function/python/python_home.h"

namespace stoker {
namespace {

constexpr std::size_t kMessageMax = std::size_t{128} << 10;
constexpr double kNanosecondsOfSecond = 1e9;

// A worker has one core: a pool of threads in each process would make them wait for each other. And the arrays of one
// call take the memory of those of the call before: by default the C library gives all of it back between them.
constexpr std::pair<std::string_view, std::string_view> kProcessVariables[] = {{"OMP_NUM_THREADS", "1"},
                                                                               {"OPENBLAS_NUM_THREADS", "1"},
                                                                               {"MKL_NUM_THREADS", "1"},
                                                                               {"NUMEXPR_NUM_THREADS", "1"},
                                                                               {"OPENCV_FOR_THREADS_NUM", "1"},
                                                                               {"MALLOC_MMAP_THRESHOLD_", "33554432"},
                                                                               {"MALLOC_TRIM_THRESHOLD_", "67108864"}};
// Tells a function that is loaded in such a process not to start others.
constexpr std::string_view kInsideVariable = "STOKER_FUNCTION_PROCESS";

std::vector<std::string> variables_of_process() {
  std::vector<std::string> variables;
  for (char** each = environ; *each; ++each) variables.emplace_back(*each);
  const auto is_set = [&](std::string_view name) {
    return std::any_of(variables.begin(), variables.end(), [&](const std::string& each) {
      return each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=';
    });
  };
  for (const auto& [name, value] : kProcessVariables) {
    if (!is_set(name)) variables.push_back(fmt::format("{}={}", name, value));
  }
  variables.push_back(fmt::format("{}=1", kInsideVariable));
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Closes a descriptor at the end.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

// What posix_spawn needs, and gives back.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  /// The new process keeps these descriptors, by the same numbers.
  explicit SpawnPlan(std::initializer_list<int> kept) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // What the function prints must not mix with what this program writes for others to read.
    if (::fcntl(STDERR_FILENO, F_GETFD) >= 0) {
      posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    for (const int descriptor : kept) posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

}  // namespace

PythonProcess::PythonProcess(int shared_memory) {
  if (std::getenv(kInsideVariable.data())) {
    fail(ErrorKind::kUsage,
         "a loader with a function was made in the process of another function, which imports the script: put the main "
         "part of the script under if __name__ == '__main__'");
  }
  const std::string executable = python_home().executable;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    fail(ErrorKind::kIo, "no channel to a process for a function: {}", std::strerror(errno));
  }
  channel_ = pair[0];
  const Descriptor other{pair[1]};
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    const int failed = errno;
    ::close(std::exchange(channel_, -1));
    fail(ErrorKind::kIo, "no pipe to a process for a function: {}", std::strerror(failed));
  }
  life_ = pipe[1];
  const Descriptor its_life{pipe[0]};
  const SpawnPlan plan({other.number, shared_memory, its_life.number});
  std::vector<std::string> words = {executable,
                                    "-c",
                                    std::string(python_host_source()),
                                    std::to_string(other.number),
                                    std::to_string(shared_memory),
                                    std::to_string(its_life.number)};
  std::vector<std::string> variables = variables_of_process();
  const int failed = ::posix_spawnp(&id_, executable.c_str(), &plan.actions, &plan.attributes,
                                    pointers_to(words).data(), pointers_to(variables).data());
  if (failed == 0) return;
  id_ = -1;
  end();
  fail(failed == EAGAIN || failed == ENOMEM ? ErrorKind::kMemory : ErrorKind::kIo,
       "cannot start {} for a function: {}; STOKER_PYTHON names another interpreter", executable,
       std::strerror(failed));
}

PythonProcess::~PythonProcess() { end(); }

void PythonProcess::end() {
  for (int* const descriptor : {&channel_, &life_}) {
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  }
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  how_it_ended();
}

// A process that closes its channel is about to end; one that does not is ended.
void PythonProcess::await_end() const {
  assert(id_ > 0);  // kill() would end more than this process
  constexpr int kPatienceMs = 2000;
  const Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, id_, 0))};
  pollfd wait{process.number, POLLIN, 0};
  if (process.number < 0 || ::poll(&wait, 1, kPatienceMs) <= 0) ::kill(id_, SIGKILL);
}

std::string PythonProcess::how_it_ended() {
  int status = 0;
  pid_t waited;
  do {
    waited = ::waitpid(id_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  id_ = -1;
  if (waited < 0) return "ended";  // the program waits for all of its children
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("was ended by signal {} ({}){}", signal, ::strsignal(signal),
                       signal == SIGKILL ? ", as the system does when memory runs out" : "");
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

PythonProcess::Answer PythonProcess::ask(std::string_view message, double timeout_s, const std::stop_token& stop) {
  const std::int64_t until_ns = now_ns() + static_cast<std::int64_t>(timeout_s * kNanosecondsOfSecond);
  // What closes the channel ends the wait.
  const std::stop_callback closes(stop, [channel = channel_] { ::shutdown(channel, SHUT_RDWR); });
  const auto gone = [&]() -> Answer {
    if (stop.stop_requested()) {
      end();
      fail(ErrorKind::kClosed, "the loader is closed");
    }
    await_end();
    return {Answer::Kind::kEnded, how_it_ended()};
  };
  if (::send(channel_, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
    if (errno == EPIPE || errno == ECONNRESET) return gone();
    fail(ErrorKind::kIo, "cannot reach the process of a function: {}", std::strerror(errno));
  }
  for (;;) {
    const std::int64_t left_ms = (until_ns - now_ns()) / 1'000'000;
    pollfd wait{channel_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, INT_MAX)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      end();
      return {Answer::Kind::kTimeout, {}};
    }
    answer_.resize(kMessageMax);
    const ssize_t count = ::recv(channel_, answer_.data(), answer_.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return gone();
    return {Answer::Kind::kMessage, answer_.substr(0, static_cast<std::size_t>(count))};
  }
}

std::optional<std::string> PythonProcess::ended_meanwhile() {
  if (id_ < 0) return "had ended";
  pollfd look{channel_, POLLIN, 0};
  if (::poll(&look, 1, 0) <= 0) return std::nullopt;  // it says nothing of its own accord
  await_end();
  return how_it_ended();
}

std::uint64_t PythonProcess::own_memory() const {
  std::ifstream pages(fmt::format("/proc/{}/statm", id_));
  std::uint64_t size = 0, resident = 0, shared = 0;
  if (!(pages >> size >> resident >> shared)) return 0;
  return (resident - std::min(shared, resident)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace stoker
