// A library to be preloaded into a command: it sees every call that changes files, writes each down, and ends the
// process or lets a call fail where it is told to. file_faults.py drives it.
//
//   STOKER_FAULTS_LOG   the file to add a line per call to: number, call, path, the path it had before (of a rename),
//                       result; separated by tabs. An error is its negative number; "killed" stands for itself.
//   STOKER_FAULTS       "ACTION WHICH [CALL:GLOB]"
//     ACTION            kill_before, kill_after, kill_during (which leaves half of what a write should have written);
//                       stop_before: by SIGSTOP; enospc, eio, erofs, eintr: the call fails; short: a write writes half
//     WHICH             "3": the third call, "3+": that and all later ones
//     CALL:GLOB         counts only those, for instance "rename:*.tar" or "*:*/manifest.json*"; reads where CALL is
//                       "read", which nothing else counts and the log does not have
//
// Calls are made one at a time, in the order of the log. Removing is counted, but fails only where GLOB's CALL names
// it: a full disk does not keep anyone from removing. Blind to what goes through io_uring, mmap and sendfile.
#undef _FORTIFY_SOURCE  // its inline functions bear the names of those that are defined here
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>

namespace {

enum class Action { kNone, kKillBefore, kKillDuring, kKillAfter, kStopBefore, kFail, kShort };

std::string link_target(const std::string& link) {
  char path[PATH_MAX];
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length < 0 ? link : std::string(path, static_cast<std::size_t>(length));
}

std::string path_of(int fd) { return link_target("/proc/self/fd/" + std::to_string(fd)); }

std::string path_at(int folder, const char* path) {
  if (path[0] == '/') return path;
  return (folder == AT_FDCWD ? link_target("/proc/self/cwd") : path_of(folder)) + "/" + path;
}

bool is_regular_file(int fd) {
  struct stat facts;
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool is_for_writing(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && is_regular_file(fd);
}

struct Verb {
  const char* word;
  Action action;
  int error;
};
constexpr Verb kVerbs[] = {
    {"kill_before", Action::kKillBefore, 0},
    {"kill_during", Action::kKillDuring, 0},
    {"kill_after", Action::kKillAfter, 0},
    {"stop_before", Action::kStopBefore, 0},
    {"enospc", Action::kFail, ENOSPC},
    {"eio", Action::kFail, EIO},
    {"erofs", Action::kFail, EROFS},
    {"eintr", Action::kFail, EINTR},
    {"short", Action::kShort, 0},
};

/// What to do to which call.
struct Order {
  Action action = Action::kNone;
  int error = 0;  // that a call fails with
  long first = 0;
  bool later_too = false;
  std::string call = "*", glob = "*";

  explicit Order(const char* text) {
    if (text == nullptr) return;
    std::istringstream words(text);
    std::string verb, which, target;
    words >> verb >> which >> target;
    for (const auto& [word, meaning, number] : kVerbs) {
      if (verb != word) continue;
      action = meaning;
      error = number;
    }
    const char* end = std::from_chars(which.data(), which.data() + which.size(), first).ptr;
    later_too = *end == '+';
    if (const std::size_t colon = target.find(':'); colon != std::string::npos) {
      call = target.substr(0, colon);
      glob = target.substr(colon + 1);
    }
    if (action == Action::kNone || first < 1) {
      std::fprintf(stderr, "file_faults: STOKER_FAULTS is not understood: %s\n", text);
      std::_Exit(99);
    }
  }

  bool matches(const std::string& name, const std::string& path) const {
    return ::fnmatch(call.c_str(), name.c_str(), 0) == 0 && ::fnmatch(glob.c_str(), path.c_str(), 0) == 0;
  }
};

class Faults {
 public:
  static Faults& instance() {
    static Faults* const faults = new Faults;  // never destroyed: files are closed until the very end
    return *faults;
  }

  /// Whether the order is for reads.
  bool reads() const { return order_.call == "read"; }

  /// Makes the call unless the order says otherwise. `real` takes whether to do half only.
  template <typename Real>
  long make(const std::string& name, const std::string& path, const std::string& before, const Real& real) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    const bool counted = order_.matches(name, path);
    if (counted) ++matches_;
    const bool hit = counted && (matches_ == order_.first || (order_.later_too && matches_ > order_.first));
    const Action action = hit ? order_.action : Action::kNone;
    const bool removes = name == "unlink" || name == "rmdir";
    long result = 0;
    if (action == Action::kKillBefore) die(name, path, before);
    if (action == Action::kStopBefore) ::kill(::getpid(), SIGSTOP);
    if (action == Action::kFail && (!removes || order_.call == name)) {
      if (name == "close") real(false);  // a file is closed even if that fails
      errno = order_.error;
      result = -1;
    } else {
      result = real(action == Action::kShort || action == Action::kKillDuring);
    }
    if (action == Action::kKillAfter || action == Action::kKillDuring) die(name, path, before);
    const int error = errno;
    if (name != "read") write_down(name, path, before, std::to_string(result < 0 ? -error : result));
    errno = error;
    return result;
  }

 private:
  Faults() : order_(std::getenv("STOKER_FAULTS")) {
    if (const char* path = std::getenv("STOKER_FAULTS_LOG")) {
      log_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    }
  }

  [[noreturn]] void die(const std::string& name, const std::string& path, const std::string& before) {
    write_down(name, path, before, "killed");
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
  }

  void write_down(const std::string& name, const std::string& path, const std::string& before,
                  const std::string& result) {
    if (log_ < 0) return;
    const std::string line = std::to_string(calls_) + "\t" + name + "\t" + path + "\t" + before + "\t" + result + "\n";
    ::syscall(SYS_write, log_, line.data(), line.size());
  }

  std::mutex mutex_;
  const Order order_;
  int log_ = -1;
  long calls_ = 0, matches_ = 0;
};

/// A read, which fails where an order is for reads.
template <typename Real>
ssize_t look(int fd, const Real& real) {
  return static_cast<ssize_t>(Faults::instance().reads() && is_regular_file(fd)
                                  ? Faults::instance().make("read", path_of(fd), "", [&](bool) { return real(); })
                                  : real());
}

template <typename Real>
long change(const char* name, const std::string& path, const Real& real) {
  return Faults::instance().make(name, path, "", [&](bool) { return real(); });
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  const auto real = [&] { return ::syscall(SYS_openat, folder, path, flags, mode); };
  const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0;
  return static_cast<int>(changes ? change("open", path_at(folder, path), real) : real());
}

int rename_at(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return static_cast<int>(
      Faults::instance().make("rename", path_at(to_folder, to), path_at(from_folder, from),
                              [&](bool) { return ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags); }));
}

int remove_at(int folder, const char* path, int flags) {
  return static_cast<int>(change(flags == AT_REMOVEDIR ? "rmdir" : "unlink", path_at(folder, path),
                                 [&] { return ::syscall(SYS_unlinkat, folder, path, flags); }));
}

int make_folder_at(int folder, const char* path, mode_t mode) {
  return static_cast<int>(
      change("mkdir", path_at(folder, path), [&] { return ::syscall(SYS_mkdirat, folder, path, mode); }));
}

int resize(int fd, off_t size) {
  return static_cast<int>(change("ftruncate", path_of(fd), [&] { return ::syscall(SYS_ftruncate, fd, size); }));
}

ssize_t write_at(int fd, const void* bytes, std::size_t count, off_t offset) {
  return Faults::instance().make("pwrite", path_of(fd), "", [&](bool half) {
    return ::syscall(SYS_pwrite64, fd, bytes, half ? (count + 1) / 2 : count, offset);
  });
}

std::FILE* open_stream(const char* symbol, const char* path, const char* mode) {
  using Open = std::FILE* (*)(const char*, const char*);
  const auto real = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, symbol));
  if (mode[0] == 'r') return real(path, mode);
  std::FILE* stream = nullptr;
  change("open", path_at(AT_FDCWD, path), [&] { return (stream = real(path, mode)) ? 0L : -1L; });
  return stream;
}

/// The mode of an open() that may create a file.
mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// What the command finds instead of the C library's.
extern "C" {

#define DEFINE_OPEN(name)                          \
  int name(const char* path, int flags, ...) {     \
    std::va_list arguments;                        \
    va_start(arguments, flags);                    \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments);                             \
    return open_at(AT_FDCWD, path, flags, mode);   \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                \
  int name(int folder, const char* path, int flags, ...) { \
    std::va_list arguments;                                \
    va_start(arguments, flags);                            \
    const mode_t mode = mode_of(flags, arguments);         \
    va_end(arguments);                                     \
    return open_at(folder, path, flags, mode);             \
  }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

std::FILE* fopen(const char* path, const char* mode) { return open_stream("fopen", path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return open_stream("fopen64", path, mode); }

ssize_t write(int fd, const void* bytes, size_t count) {
  if (!is_regular_file(fd)) return ::syscall(SYS_write, fd, bytes, count);
  return Faults::instance().make("write", path_of(fd), "", [&](bool half) {
    return ::syscall(SYS_write, fd, bytes, half ? (count + 1) / 2 : count);
  });
}
ssize_t writev(int fd, const iovec* parts, int count) {
  const auto real = [&] { return ::syscall(SYS_writev, fd, parts, count); };
  return is_regular_file(fd) ? change("write", path_of(fd), real) : real();
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }

ssize_t read(int fd, void* bytes, size_t count) {
  return look(fd, [&] { return ::syscall(SYS_read, fd, bytes, count); });
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  return look(fd, [&] { return ::syscall(SYS_pread64, fd, bytes, count, offset); });
}
ssize_t pread64(int fd, void* bytes, size_t count, off_t offset) { return pread(fd, bytes, count, offset); }
ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  return look(fd, [&] { return ::syscall(SYS_preadv, fd, parts, count, offset, 0L); });
}
ssize_t preadv64(int fd, const iovec* parts, int count, off_t offset) { return preadv(fd, parts, count, offset); }

int fsync(int fd) {
  return static_cast<int>(change("fsync", path_of(fd), [&] { return ::syscall(SYS_fsync, fd); }));
}
int fdatasync(int fd) {
  return static_cast<int>(change("fdatasync", path_of(fd), [&] { return ::syscall(SYS_fdatasync, fd); }));
}
int close(int fd) {
  const auto real = [&] { return ::syscall(SYS_close, fd); };
  return static_cast<int>(is_for_writing(fd) ? change("close", path_of(fd), real) : real());
}

int rename(const char* from, const char* to) noexcept { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return rename_at(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  return rename_at(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) noexcept { return remove_at(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) noexcept { return remove_at(folder, path, flags); }
int rmdir(const char* path) noexcept { return remove_at(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) noexcept {
  struct stat facts;
  const bool folder = ::lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
  return remove_at(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}

int mkdir(const char* path, mode_t mode) noexcept { return make_folder_at(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char* path, mode_t mode) noexcept { return make_folder_at(folder, path, mode); }

int ftruncate(int fd, off_t size) noexcept { return resize(fd, size); }
int ftruncate64(int fd, off_t size) noexcept { return resize(fd, size); }

}  // extern "C"
