// Keeps the bytes of objects on a disk, for stores that are slower than the disk: a server, or a network file system.
// Sources in front of others look there first (CachedSource); what they had to fetch is written later, by a thread that
// no read waits for. docs/cache.md has the rules, docs/decisions/0018 the reasons.
//
// What is kept stays until the data set no longer uses it. Where everything is used once per epoch, in any order, no
// choice hits more: a hit is of something that was there when the epoch began, so there are as many as there is room
// for. Admitting what was just read, as an LRU does, would push out what the rest of the epoch needs sooner.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/storage/cache/cache_counters.h"
#include "stoker/storage/cache/cache_folder.h"
#include "stoker/storage/file_access.h"
#include "stoker/storage/kept_reads.h"
#include "stoker/storage/source.h"

namespace stoker {

class CachedSource;
struct CachedRead;

struct DiskCacheOptions {
  std::string folder;
  std::uint64_t bytes_max = 0;                              // on the disk, of all processes
  std::uint64_t write_bytes_max = std::uint64_t{16} << 20;  // in memory, waiting to be written
  // Complete epochs in which a segment was not used before it may be dropped; 0: it is kept, however long that is.
  int unused_epochs = 1;
};

/// Never fails: what is wrong with the folder is logged once, and reads go to the store. Threads: any.
class DiskCache {
 public:
  /// `access` reads the files of the cache, `writer` writes them.
  DiskCache(DiskCacheOptions options, FileAccess access, std::shared_ptr<Executor> writer);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// A source of the same bytes that looks in the cache first; the source itself where it does not tell one version of
  /// an object from another. It must outlive the cache, which keeps what it returns. May wait for the disk.
  Source& in_front_of(Source& source);

  /// Says which batch is read next, of so many that the epoch has. One thread at a time.
  void reading(std::int64_t epoch, std::int64_t batch, std::int64_t batches);

  DiskCacheCounters counters() const;
  /// Waits until nothing waits to be written.
  void flush();
  /// Writes what waits to be written, and lets go of files and executors: only counters() may be called from then on.
  /// No read may be under way. Idempotent.
  void close();

 private:
  friend class CachedSource;
  struct Write {
    CachedObject* object = nullptr;
    std::uint64_t chunk = 0;
    std::vector<std::uint8_t> bytes;
  };

  Source& in_front_of_locked(Source& source);
  std::unique_ptr<Source> open(Source& source);
  void complete_epoch();
  void stop_using(const std::string& why);
  void stop_writing(const std::string& why);
  /// Whether what is fetched now may be kept.
  bool admits() const;
  void keep(CachedObject& object, std::uint64_t chunk, Pieces bytes, std::uint64_t length) noexcept;
  void write_all() noexcept;
  void write(const Write& write) noexcept;
  void count_damage();
  bool make_room(std::uint64_t bytes);
  CachedRead* take_read();
  void give_back(CachedRead* read) noexcept;

  const DiskCacheOptions options_;
  std::optional<FileAccess> access_;  // until it is closed
  std::shared_ptr<Executor> writer_;  // also
  const HomeProcess home_{};
  std::unique_ptr<CacheFolder> folder_;  // null: it cannot be used
  std::atomic<bool> writes_ = true;      // off where the disk refuses them
  std::atomic<bool> tells_unversioned_ = false;
  std::atomic<bool> full_ = false;  // nothing can be dropped before the next epoch

  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, bytes_from_disk_ = 0, bytes_from_store_ = 0, bytes_written_ = 0,
                             dropped_ = 0, damaged_ = 0;

  std::mutex sources_mutex_;
  std::unordered_map<const Source*, std::unique_ptr<Source>> sources_;  // null: not cached

  KeptReads<CachedRead> reads_;

  // Of the thread that calls reading():
  std::int64_t epoch_ = -1, batch_ = 0;
  bool epoch_ends_ = false;                    // that batch is its last
  std::uint32_t epoch_began_ = 0;              // by the folder's clock; 0: it was not read from its beginning
  std::deque<std::uint32_t> complete_epochs_;  // when the last ones began

  std::atomic<std::uint32_t> oldest_use_ = 0;  // what was last used before may be dropped

  std::mutex writes_mutex_;
  std::condition_variable written_;
  std::deque<Write> waiting_;
  std::uint64_t write_bytes_ = 0;  // of those, and of what is being written
  bool writing_ = false;           // a task of the executor is under way
};

}  // namespace stoker
