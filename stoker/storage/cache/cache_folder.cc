#include "stoker/storage/cache/cache_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/storage/local_folder.h"
#include "stoker/storage/location.h"

namespace stoker {

/// The file that marks a folder as a cache, mapped by all processes that use it.
struct CacheFolderState {
  static constexpr char kMagic[8] = {'s', 't', 'o', 'k', 'e', 'r', 'd', '1'};
  static constexpr std::size_t kBytes = 4096;

  char magic[8];
  std::atomic<std::uint64_t> used;   // bytes of all objects, with their tables
  std::atomic<std::uint32_t> clock;  // epochs that any process began
  std::atomic<std::uint32_t> users;  // processes that have not left in an orderly way
  std::atomic<std::uint64_t> hits, misses, bytes_from_disk, bytes_from_store, bytes_written, dropped, damaged;
};
static_assert(sizeof(CacheFolderState) <= CacheFolderState::kBytes);

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStateName = "stoker-cache";
constexpr std::string_view kNewEnding = ".new";
constexpr std::size_t kNameSize = 16;  // of a hash

bool is_hash(std::string_view name) {
  return name.size() == kNameSize && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool flock_fully(const FileDescriptor& file, int operation) {
  int result;
  do {
    result = ::flock(file.get(), operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// The names in a folder that `is_ours`, sorted. None if it cannot be read: another process may have removed it.
template <typename IsOurs>
std::vector<std::string> names_in(const std::string& folder, IsOurs is_ours) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (is_ours(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> groups_in(const std::string& folder) { return names_in(folder, is_hash); }
std::vector<std::string> objects_in(const std::string& group) { return names_in(group, is_hash); }

/// Of objects that are being made, or were by a process that was killed.
std::vector<std::string> new_files_in(const std::string& group) {
  return names_in(group, [](std::string_view name) {
    return name.ends_with(kNewEnding) && is_hash(name.substr(0, name.size() - kNewEnding.size()));
  });
}

std::uint64_t disk_bytes_of(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_blocks) * 512 : 0;
}

/// Locks the folder of a group that no process uses; no descriptor if one does.
FileDescriptor lock_unused(const std::string& group) {
  FileDescriptor folder(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && !flock_fully(folder, LOCK_EX | LOCK_NB)) folder = FileDescriptor();
  return folder;
}

/// Removes a file of a locked group. What it took of the disk.
std::uint64_t remove_object(const std::string& path) {
  const std::uint64_t bytes = disk_bytes_of(path);
  return ::unlink(path.c_str()) == 0 ? bytes : 0;
}

[[noreturn]] void fail_foreign(const std::string& path) {
  fail(ErrorKind::kUsage, "'{}' is not a cache of Stoker's: it has no file '{}'", path, kStateName);
}

CacheFolderState* map_state(const FileDescriptor& file, const std::string& path) {
  void* const memory = ::mmap(nullptr, CacheFolderState::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) fail_system("map", path, errno);
  return static_cast<CacheFolderState*>(memory);
}

bool has_magic(const CacheFolderState& state) {
  return std::memcmp(state.magic, CacheFolderState::kMagic, sizeof state.magic) == 0;
}

/// Opens the state of a folder that is a cache.
FileDescriptor open_state(const std::string& folder) {
  const std::string path = path_in(folder, kStateName);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    if (errno != ENOENT && errno != ENOTDIR) fail_system("open", path, errno);
    std::error_code error;
    if (!fs::exists(folder, error)) fail_system("open", folder, ENOENT);
    fail_foreign(folder);
  }
  struct stat found;
  if (::fstat(file.get(), &found) != 0 || static_cast<std::size_t>(found.st_size) < CacheFolderState::kBytes) {
    fail_foreign(folder);
  }
  return file;
}

void subtract(std::atomic<std::uint64_t>& from, std::uint64_t bytes) {
  std::uint64_t before = from.load();
  while (!from.compare_exchange_weak(before, before - std::min(before, bytes))) {
  }
}

}  // namespace

/// A group that this process uses: locked as long as it lives, but not in forked children.
class CacheFolder::Group {
 public:
  explicit Group(FileDescriptor folder) : folder_(std::move(folder)), closed_in_children_(folder_) {}

 private:
  FileDescriptor folder_;
  ClosedInChildren closed_in_children_;
};

CacheFolder::CacheFolder(std::string path, std::uint64_t bytes_max) : path_(std::move(path)), bytes_max_(bytes_max) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail_system("create the folder", path_, error.value());
  take_state();
  if (used() > bytes_max_) make_room(0);
}

void CacheStateUnmapper::operator()(CacheFolderState* state) const { ::munmap(state, CacheFolderState::kBytes); }

CacheFolder::~CacheFolder() {
  groups_.clear();
  if (state_) --state_->users;
}

void CacheFolder::take_state() {
  const std::string path = path_in(path_, kStateName);
  state_file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!state_file_) fail_system("create", path, errno);
  state_lock_ = std::make_unique<ClosedInChildren>(state_file_);
  const bool alone = flock_fully(state_file_, LOCK_EX | LOCK_NB);
  if (!alone && !flock_fully(state_file_, LOCK_SH)) fail_system("lock", path, errno);
  struct stat found;
  if (::fstat(state_file_.get(), &found) != 0) fail_system("look at", path, errno);
  if (found.st_size == 0 && alone) {
    if (const int error = ::posix_fallocate(state_file_.get(), 0, CacheFolderState::kBytes); error != 0) {
      fail_system("write", path, error);
    }
  } else if (static_cast<std::size_t>(found.st_size) != CacheFolderState::kBytes) {
    fail_foreign(path_);
  }
  state_.reset(map_state(state_file_, path));  // a mapping that is left behind keeps the lock
  if (alone) {
    const bool is_new = state_->magic[0] == 0;
    if (!is_new && !has_magic(*state_)) fail_foreign(path_);
    if (state_->users.exchange(0) != 0) clean_up();
    std::memcpy(state_->magic, CacheFolderState::kMagic, sizeof state_->magic);
    // Others that begin now wait until this lock is weakened.
    flock_fully(state_file_, LOCK_SH);
  } else if (!has_magic(*state_)) {
    fail_foreign(path_);
  }
  ++state_->users;
}

// While no other process uses the folder: what killed ones were making goes, and the rest is counted.
void CacheFolder::clean_up() {
  std::uint64_t used = 0;
  for (const std::string& group : groups_in(path_)) {
    const std::string folder = path_in(path_, group);
    for (const std::string& name : new_files_in(folder)) ::unlink(path_in(folder, name).c_str());
    for (const std::string& name : objects_in(folder)) {
      const std::string object = path_in(folder, name);
      if (CachedObject::look_at(object)) {
        used += disk_bytes_of(object);
      } else {
        ::unlink(object.c_str());
      }
    }
    ::rmdir(folder.c_str());  // if it is empty
  }
  state_->used = used;
}

std::uint64_t CacheFolder::used() const { return state_->used.load(std::memory_order_relaxed); }

std::unique_ptr<CachedObject> CacheFolder::open(const ObjectIdentity& identity, std::string_view shown,
                                                std::uint64_t bytes, const FileAccess& access) {
  const std::string group = to_hex(hash64(Location(identity.place).parent().text()));
  use_group(group);
  const CacheKey key = CacheKey::of(identity, bytes);
  const std::string path = path_in(path_in(path_, group), to_hex(key.place));
  if (std::unique_ptr<CachedObject> object = CachedObject::open(path, key, access)) return object;
  release(CachedObject::empty(path, true));  // another version
  const std::uint64_t table = CachedObject::table_bytes(bytes);
  if (!reserve(table) && !(make_room(table) && reserve(table))) return nullptr;
  // Others are to find it in what info() shows, wherever this process goes.
  bool made = false;
  const std::exception_ptr error =
      thrown_by([&] { made = CachedObject::create(path, key, Location(std::string(shown)).absolute().text()); });
  if (!made) release(table);  // the process that made it has reserved its table
  if (error) std::rethrow_exception(error);
  return CachedObject::open(path, key, access);
}

// Locked until this object goes: groups are few, since shards lie in few folders.
void CacheFolder::use_group(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (groups_.contains(name)) return;
  const std::string folder = path_in(path_, name);
  for (;;) {
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail_system("create the folder", folder, errno);
    FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened && errno == ENOENT) continue;  // another process has just removed it
    if (!opened) fail_system("open the folder", folder, errno);
    // One that removes objects of this group soon ends; but it may remove the folder, too.
    if (!flock_fully(opened, LOCK_SH)) fail_system("lock the folder", folder, errno);
    struct stat locked, named;
    if (::fstat(opened.get(), &locked) != 0) fail_system("look at", folder, errno);
    if (::stat(folder.c_str(), &named) != 0 || locked.st_ino != named.st_ino) continue;
    ::futimens(opened.get(), nullptr);  // it was used now; where that is refused, it seems older than it is
    groups_.emplace(name, std::make_unique<Group>(std::move(opened)));
    return;
  }
}

bool CacheFolder::reserve(std::uint64_t bytes) {
  std::uint64_t before = state_->used.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_max_ || before > bytes_max_ - bytes) return false;
  } while (!state_->used.compare_exchange_weak(before, before + bytes));
  return true;
}

void CacheFolder::release(std::uint64_t bytes) {
  if (bytes > 0) subtract(state_->used, bytes);
}

bool CacheFolder::make_room(std::uint64_t bytes) {
  const auto is_room = [&] { return bytes <= bytes_max_ && used() <= bytes_max_ - bytes; };
  if (is_room()) return true;
  struct Candidate {
    std::int64_t used_s;
    std::string name;
  };
  std::vector<Candidate> candidates;
  for (std::string& name : groups_in(path_)) {
    struct stat found;
    if (::stat(path_in(path_, name).c_str(), &found) == 0)
      candidates.push_back({found.st_mtim.tv_sec, std::move(name)});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.used_s < b.used_s; });
  for (const Candidate& candidate : candidates) {
    if (remove_group(candidate.name, bytes) && is_room()) return true;
  }
  return is_room();
}

std::uint64_t CacheFolder::drop_unused(std::uint32_t oldest, std::uint64_t bytes) {
  std::vector<std::string> groups;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& group : groups_) groups.push_back(path_in(path_, group.first));
  }
  std::uint64_t freed = 0;
  for (const std::string& group : groups) {
    for (const std::string& object : objects_in(group)) {
      if (freed >= bytes) break;
      freed += CachedObject::drop_unused(path_in(group, object), oldest, bytes - freed);
    }
  }
  release(freed);
  return freed;
}

// Removes as many of its objects as needed, if no process uses the group. Whether any were.
bool CacheFolder::remove_group(const std::string& name, std::uint64_t bytes) {
  const std::string folder = path_in(path_, name);
  const FileDescriptor locked = lock_unused(folder);
  if (!locked) return false;
  bool any = false;
  for (const std::string& object : objects_in(folder)) {
    if (bytes <= bytes_max_ && used() <= bytes_max_ - bytes) break;
    release(remove_object(path_in(folder, object)));
    any = true;
  }
  ::rmdir(folder.c_str());  // if it is empty
  return any;
}

std::uint32_t CacheFolder::now() const { return state_->clock.load(std::memory_order_relaxed); }
std::uint32_t CacheFolder::tick() { return state_->clock.fetch_add(1) + 1; }

void CacheFolder::add_totals(const DiskCacheCounters& counters) {
  state_->hits += counters.hits;
  state_->misses += counters.misses;
  state_->bytes_from_disk += counters.bytes_from_disk;
  state_->bytes_from_store += counters.bytes_from_store;
  state_->bytes_written += counters.bytes_written;
  state_->dropped += counters.dropped;
  state_->damaged += counters.damaged;
}

CacheFolder::Info CacheFolder::info(const std::string& path) {
  const FileDescriptor file = open_state(path);
  const MappedCacheState state(map_state(file, path));
  if (!has_magic(*state)) fail_foreign(path);
  Info info;
  info.totals = {.hits = state->hits,
                 .misses = state->misses,
                 .bytes_from_disk = state->bytes_from_disk,
                 .bytes_from_store = state->bytes_from_store,
                 .bytes_written = state->bytes_written,
                 .dropped = state->dropped,
                 .damaged = state->damaged};
  for (const std::string& name : groups_in(path)) {
    const std::string folder = path_in(path, name);
    GroupFacts group;
    for (const std::string& object : objects_in(folder)) {
      const std::optional<CachedObject::Facts> facts = CachedObject::look_at(path_in(folder, object));
      if (!facts) continue;
      if (group.objects++ == 0) group.shown = Location(facts->shown).parent().shown();
      group.object_bytes += facts->object_bytes;
      group.cached_bytes += facts->cached_bytes;
      info.disk_bytes += facts->disk_bytes;
    }
    if (group.objects > 0) info.groups.push_back(std::move(group));
  }
  std::sort(info.groups.begin(), info.groups.end(),
            [](const GroupFacts& a, const GroupFacts& b) { return a.shown < b.shown; });
  return info;
}

std::uint64_t CacheFolder::clear(const std::string& path) {
  const FileDescriptor file = open_state(path);
  const MappedCacheState state(map_state(file, path));
  if (!has_magic(*state)) fail_foreign(path);
  std::uint64_t freed = 0;
  for (const std::string& name : groups_in(path)) {
    const std::string folder = path_in(path, name);
    const FileDescriptor locked = lock_unused(folder);
    for (const std::string& object : objects_in(folder)) {
      const std::string one = path_in(folder, object);
      const std::uint64_t bytes = locked ? remove_object(one) : CachedObject::empty(one, false);
      freed += bytes;
      subtract(state->used, bytes);
    }
    if (!locked) continue;
    for (const std::string& left : new_files_in(folder)) ::unlink(path_in(folder, left).c_str());
    ::rmdir(folder.c_str());
  }
  return freed;
}

}  // namespace stoker
