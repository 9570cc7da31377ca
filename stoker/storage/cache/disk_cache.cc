#include "stoker/storage/cache/disk_cache.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/storage/cache/cached_source.h"

namespace stoker {
namespace {

// What is dropped at once when room is needed: looking for it takes a pass over the tables.
constexpr std::uint64_t kDroppedAtOnce = std::uint64_t{64} << 20;

// An object takes a mapping, of which a process may have 65,530 by default.
constexpr std::size_t kObjectsMax = 32768;

}  // namespace

DiskCache::DiskCache(DiskCacheOptions options, FileAccess access, std::shared_ptr<Executor> writer)
    : options_(std::move(options)), access_(std::move(access)), writer_(std::move(writer)) {
  try {
    folder_ = std::make_unique<CacheFolder>(options_.folder, options_.bytes_max);
  } catch (const Error& error) {
    stop_using(error.message());
  }
}

DiskCache::~DiskCache() {
  if (home_.here()) close();
}

void DiskCache::close() {
  flush();
  sources_.clear();
  access_.reset();
  writer_.reset();
  if (!folder_) return;
  folder_->add_totals(counters());
  folder_.reset();
}

// Once: what is wrong with one object is wrong with the others, too.
void DiskCache::stop_using(const std::string& why) {
  if (writes_.exchange(false)) log(LogLevel::kWarning, "reading without a disk cache: {}", why);
}

void DiskCache::stop_writing(const std::string& why) {
  if (writes_.exchange(false)) log(LogLevel::kWarning, "nothing more is added to the disk cache: {}", why);
}

Source& DiskCache::in_front_of(Source& source) {
  if (!folder_) return source;
  const std::lock_guard lock(sources_mutex_);
  return in_front_of_locked(source);
}

Source& DiskCache::in_front_of_locked(Source& source) {
  const auto [place, is_new] = sources_.try_emplace(&source);
  std::unique_ptr<Source>& cached = place->second;  // stays where it is when others are added
  if (is_new && sources_.size() <= kObjectsMax) {
    cached = source.over([this](Source& object) -> Source& { return in_front_of_locked(object); });
    if (!cached) cached = open(source);
  }
  return cached ? *cached : source;
}

// Null where the source cannot be cached.
std::unique_ptr<Source> DiskCache::open(Source& source) {
  try {
    const std::optional<ObjectIdentity> identity = source.identity();
    if (!identity) {
      if (source.is_remote() && !tells_unversioned_.exchange(true)) {
        log(LogLevel::kWarning,
            "the disk cache does not keep '{}' and others like it, because the store names no version of it (an ETag "
            "or a date) or because it is a folder of loose files; `stoker pack` makes shards of loose files",
            source.name());
      }
      return nullptr;
    }
    const std::uint64_t bytes = source.size();
    if (bytes == 0) return nullptr;
    std::unique_ptr<CachedObject> object = folder_->open(*identity, source.name(), bytes, *access_);
    return object ? std::make_unique<CachedSource>(source, std::move(object), *this) : nullptr;
  } catch (const Error& error) {
    stop_writing(error.message());
    return nullptr;
  }
}

void DiskCache::reading(std::int64_t epoch, std::int64_t batch, std::int64_t batches) {
  if (!folder_ || (epoch == epoch_ && batch == batch_)) return;
  if (epoch != epoch_ || batch < batch_) {
    if (epoch_ends_ && epoch_began_ > 0) complete_epoch();
    epoch_began_ = batch == 0 ? folder_->tick() : 0;
  }
  epoch_ = epoch;
  batch_ = batch;
  epoch_ends_ = batch + 1 >= batches;
}

void DiskCache::complete_epoch() {
  const auto count = static_cast<std::size_t>(options_.unused_epochs);
  if (count == 0) return;
  complete_epochs_.push_back(epoch_began_);
  if (complete_epochs_.size() > count) complete_epochs_.pop_front();
  if (complete_epochs_.size() < count) return;
  oldest_use_.store(complete_epochs_.front());
  full_.store(false);
}

DiskCacheCounters DiskCache::counters() const {
  return {.hits = hits_.load(std::memory_order_relaxed),
          .misses = misses_.load(std::memory_order_relaxed),
          .bytes_from_disk = bytes_from_disk_.load(std::memory_order_relaxed),
          .bytes_from_store = bytes_from_store_.load(std::memory_order_relaxed),
          .bytes_written = bytes_written_.load(std::memory_order_relaxed),
          .dropped = dropped_.load(std::memory_order_relaxed),
          .damaged = damaged_.load(std::memory_order_relaxed)};
}

void DiskCache::count_damage() {
  damaged_.fetch_add(1, std::memory_order_relaxed);
  folder_->release(CachedObject::kChunkBytes);
}

// --- Reads

CachedRead* DiskCache::take_read() { return &reads_.take(); }

void DiskCache::give_back(CachedRead* read) noexcept { reads_.give_back(*read); }

// --- Writes

bool DiskCache::admits() const {
  if (!writes_.load(std::memory_order_relaxed)) return false;
  return !full_.load(std::memory_order_relaxed) ||
         folder_->used() + CachedObject::kChunkBytes * CachedObject::kSegmentChunks <= options_.bytes_max;
}

void DiskCache::keep(CachedObject& object, std::uint64_t chunk, Pieces bytes, std::uint64_t length) noexcept {
  Write write{.object = &object, .chunk = chunk, .bytes = {}};
  try {
    {
      const std::lock_guard lock(writes_mutex_);
      if (write_bytes_ + length > options_.write_bytes_max) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      write_bytes_ += length;
    }
    try {
      write.bytes.reserve(static_cast<std::size_t>(length));
      for (const MutableBytes piece : bytes) write.bytes.insert(write.bytes.end(), piece.begin(), piece.end());
      const std::lock_guard lock(writes_mutex_);
      waiting_.push_back(std::move(write));
      if (std::exchange(writing_, true)) return;
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(writes_mutex_);
      write_bytes_ -= length;
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    writer_->submit({[](void* cache) noexcept { static_cast<DiskCache*>(cache)->write_all(); }, this});
  } catch (const std::exception& error) {
    stop_writing(error.what());
  }
}

void DiskCache::write_all() noexcept {
  std::unique_lock lock(writes_mutex_);
  while (!waiting_.empty()) {
    Write next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    write(next);
    lock.lock();
    write_bytes_ -= next.bytes.size();
  }
  writing_ = false;
  written_.notify_all();
}

void DiskCache::write(const Write& write) noexcept {
  CachedObject& object = *write.object;
  if (!writes_.load(std::memory_order_relaxed) || !object.is_open()) return;
  std::uint64_t reserved = 0;
  try {
    // Edges are often there already: neighbours share them.
    Bytes left = write.bytes;
    for (std::uint64_t chunk = write.chunk; !left.empty();) {
      std::size_t skipped = 0, length = 0;
      while (skipped < left.size() && object.has_chunk(chunk)) skipped += CachedObject::kChunkBytes, ++chunk;
      left = left.subspan(std::min(skipped, left.size()));
      std::uint64_t end = chunk;
      while (length < left.size() && !object.has_chunk(end)) length += CachedObject::kChunkBytes, ++end;
      if (length == 0) break;
      reserved = (end - chunk) * CachedObject::kChunkBytes;
      if (!folder_->reserve(reserved) && !make_room(reserved)) {
        full_.store(true);
        return;
      }
      const Bytes run = left.first(std::min(length, left.size()));
      const std::uint64_t added = object.store(chunk, run, folder_->now());
      folder_->release(reserved - added * CachedObject::kChunkBytes);
      reserved = 0;
      bytes_written_.fetch_add(run.size(), std::memory_order_relaxed);
      left = left.subspan(run.size());
      chunk = end;
    }
  } catch (const Error& error) {
    folder_->release(reserved);
    if (error.kind() == ErrorKind::kNotFound) {
      object.give_up();  // another process removed it
    } else {
      stop_writing(error.message());
    }
  }
}

// Reserves the bytes once something was dropped.
bool DiskCache::make_room(std::uint64_t bytes) {
  if (full_.load(std::memory_order_relaxed)) return false;
  if (folder_->make_room(bytes) && folder_->reserve(bytes)) return true;
  const std::uint32_t oldest = oldest_use_.load();
  return oldest > 0 && folder_->drop_unused(oldest, std::max(bytes, kDroppedAtOnce)) > 0 && folder_->reserve(bytes);
}

void DiskCache::flush() {
  std::unique_lock lock(writes_mutex_);
  written_.wait(lock, [&] { return !writing_; });
}

}  // namespace stoker
