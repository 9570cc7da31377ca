// The descriptors of many files within the process's limit: a bounded number are open at a time, those used last. A
// data set may have more shards than a process may open files.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/base/home_process.h"
#include "stoker/storage/open_file.h"
#include "stoker/storage/run_in_turn.h"

namespace stoker {

class OpenFiles {
 public:
  /// Half of what the process may open at least leaves the other half to the rest of it; beyond a thousand nothing is
  /// gained.
  static int default_capacity();
  explicit OpenFiles(int capacity = default_capacity());
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// False in a forked child, where the lock may be held for ever: nothing but here() may be called there.
  bool here() const { return home_.here(); }

  /// A file that is opened and closed as need be. Its owner calls forget() before destroying it.
  class File {
   public:
    /// Does not touch the file. `name` is for messages and outlives this.
    File(const std::string& path, const std::string& name, FileOptions options)
        : path_(absolute_path(path)), name_(name), options_(options) {}

    const std::string& path() const { return path_; }
    /// Opens the file outside any cache. Throws as open_file() does.
    OpenFile open() const { return open_file(path_, name_, options_); }
    /// Opens it for reads of any alignment and checks that it is the file that was opened first: for a forked child,
    /// where no thread changes this any more.
    OpenFile open_buffered() const;
    /// What it was found to be when it was first opened. Only for callers that have a lease, or had one.
    const FileFacts& facts() const { return *facts_; }

   private:
    friend class OpenFiles;

    const std::string path_;
    const std::string& name_;
    const FileOptions options_;
    // All else is the cache's, under its lock.
    std::optional<FileFacts> facts_;
    FileDescriptor descriptor_;
    int leases_ = 0;
    std::list<File*> self_{this};  // one element, which is in OpenFiles::idle_ while the file is open without leases
    const std::list<File*>::iterator place_ = self_.begin();
  };

  /// The use of a file's descriptor, which stays open meanwhile, or the wait for it. Stays where it is until released.
  struct Lease : Waiter {
    File* file = nullptr;
    int descriptor = -1;
  };

  /// Whether the lease has its descriptor; if not, all are in use and it is resumed when its turn has come: it then
  /// calls finish(). Where it may not wait there is no lease then. Throws what opening the file throws; there is none
  /// then, either.
  bool acquire(File& file, Lease& lease, bool may_wait = true);
  /// To be called once when resumed. Throws as acquire() does.
  void finish(Lease& lease);
  void release(Lease& lease) noexcept;

  /// Keeps the descriptor of a file that was opened for the first time, if there is room.
  void adopt(File& file, OpenFile opened) noexcept;
  /// Closes the file, which is not used any more.
  void forget(File& file) noexcept;

 private:
  /// What a change made possible: done once the lock is gone.
  struct Aftermath {
    FileDescriptor closing;
    IntrusiveQueue<Waiter> ready;
    void run() noexcept;
  };

  bool grant(Lease& lease, Aftermath& after);
  bool reserve(Aftermath& after);
  void serve_waiters(Aftermath& after);
  void open_now(Lease& lease);
  void link(File& file) { idle_.splice(idle_.end(), file.self_); }
  void unlink(File& file) { file.self_.splice(file.self_.end(), idle_, file.place_); }

  const HomeProcess home_;
  const int capacity_;
  std::mutex mutex_;
  int open_ = 0;                    // descriptors that are open, or reserved by leases about to open theirs
  std::list<File*> idle_;           // open and without leases, the one used last at the end
  IntrusiveQueue<Waiter> waiting_;  // leases
};

}  // namespace stoker
