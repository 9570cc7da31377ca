// All stores, by the scheme of a location. Add a new store here.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/storage/block_cache.h"
#include "stoker/storage/file_access.h"
#include "stoker/storage/store.h"

namespace stoker {

/// A value: copies share the stores. Threads: any, once all stores were added.
class Stores {
 public:
  /// Local files alone, read by the calling thread.
  Stores();
  /// Local files alone.
  Stores(FileAccess access);
  /// An executor is enough to read local files with.
  template <std::derived_from<Executor> T>
  Stores(std::shared_ptr<T> blocking) : Stores(FileAccess(std::move(blocking))) {}

  /// For the locations of its scheme.
  Stores& add(std::shared_ptr<const Store> store);
  /// Throws kUsage, naming the schemes there are, for a location of another.
  const Store& of(const Location& at) const;

  /// Compressed blocks of shards are decompressed on threads that are made when the first is read; without this, on
  /// those that read.
  Stores& decompress_on(BlockCache::MakeExecutor threads) {
    block_threads_ = std::move(threads);
    return *this;
  }
  const BlockCache::MakeExecutor& block_threads() const { return block_threads_; }

  /// Whether samples are to be read past the page cache, also from copies of objects on a disk.
  bool is_direct() const { return is_direct_; }

  /// The same stores for one of several writers (see Store).
  Stores for_writer(std::string_view writer) const;

  /// What the store of the location says or does (see Store).
  std::optional<ObjectFacts> find(const Location& at) const { return of(at).find(at); }
  ObjectFacts stat(const Location& at, std::string_view doing) const { return of(at).stat(at, doing); }
  /// A hint to the store of each.
  void expect(std::span<const Location> objects) const;
  void expect_folder(const Location& folder, std::string_view file) const { of(folder).expect_folder(folder, file); }
  std::unique_ptr<Folder> list(const Location& folder) const { return of(folder).list(folder); }
  std::shared_ptr<Source> open(const Location& at) const { return of(at).open(at); }
  std::unique_ptr<ObjectWriter> put(const Location& at) const { return of(at).put(at); }
  void create_folder(const Location& folder) const { of(folder).create_folder(folder); }

 private:
  bool is_direct_;
  std::vector<std::shared_ptr<const Store>> stores_;
  BlockCache::MakeExecutor block_threads_;
};

/// Puts `content` in place of what the object may have held.
void put_whole(const Stores& stores, const Location& at, Bytes content);

}  // namespace stoker
