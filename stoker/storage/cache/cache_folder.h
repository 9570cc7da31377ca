// The folder of a disk cache, as all processes of a host share it: which file is whose, how much there is in all, and
// what goes when there is no room. Objects that lie in one folder or bucket prefix have their files in one folder here,
// a *group*, which is locked by all processes that use one of them: so what no process uses can be told.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/storage/cache/cache_counters.h"
#include "stoker/storage/cache/cached_object.h"
#include "stoker/storage/closed_in_children.h"

namespace stoker {

struct CacheFolderState;

struct CacheStateUnmapper {
  void operator()(CacheFolderState* state) const;
};
using MappedCacheState = std::unique_ptr<CacheFolderState, CacheStateUnmapper>;

/// Threads: any. Throws kIo where the folder cannot be used; the caller goes on without a cache then.
class CacheFolder {
 public:
  /// Makes the folder if it is not there. If no other process uses it, cleans up what killed ones have left, and makes
  /// it as small as `bytes_max`. Throws kUsage for a folder that holds something else.
  CacheFolder(std::string path, std::uint64_t bytes_max);
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t used() const;

  /// The object's file, which is made if need be; another version of the object goes. Null if there is no room for it.
  std::unique_ptr<CachedObject> open(const ObjectIdentity& identity, std::string_view shown, std::uint64_t bytes,
                                     const FileAccess& access);

  /// Takes so many bytes of what all processes may use; false if there are none.
  bool reserve(std::uint64_t bytes);
  void release(std::uint64_t bytes);
  /// Removes objects that no process uses, the group used longest ago first, until there is room for so many bytes.
  /// False if there is still none.
  bool make_room(std::uint64_t bytes);

  /// Frees about so many bytes of what was last used before `oldest`, in the groups that this process uses. What was
  /// freed.
  std::uint64_t drop_unused(std::uint32_t oldest, std::uint64_t bytes);

  /// A clock that all processes share. It ticks when one of them begins an epoch.
  std::uint32_t now() const;
  std::uint32_t tick();

  /// Adds to what stands in the folder for `info`.
  void add_totals(const DiskCacheCounters& counters);

  struct GroupFacts {
    std::string shown;  // the folder of its objects, absolute for local ones
    std::uint64_t objects = 0, object_bytes = 0, cached_bytes = 0;
  };
  struct Info {
    std::uint64_t disk_bytes = 0;
    DiskCacheCounters totals{};
    std::vector<GroupFacts> groups{};
  };
  /// Of a folder that may be in use. Throws kUsage if it is no cache, and kNotFound or kIo.
  static Info info(const std::string& path);
  /// Removes all that is cached; processes that use it go on, and fill it again. What was freed. Throws like info().
  static std::uint64_t clear(const std::string& path);

 private:
  class Group;

  void take_state();
  void clean_up();
  void use_group(const std::string& name);
  bool remove_group(const std::string& name, std::uint64_t bytes);

  const std::string path_;
  const std::uint64_t bytes_max_;
  FileDescriptor state_file_;
  std::unique_ptr<ClosedInChildren> state_lock_;
  MappedCacheState state_;

  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;  // that this process uses
};

}  // namespace stoker
