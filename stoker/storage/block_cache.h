// Decompressed blocks of all shards of a data set, and values that blocks packed, as many as there is room for: the
// samples of a block are often read one after another, and then it is fetched and decompressed once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/intrusive_queue.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any.
class BlockCache {
 public:
  using MakeExecutor = std::function<std::shared_ptr<Executor>()>;

  static constexpr std::uint64_t kBytesMax = std::uint64_t{256} << 20;

  /// Keeps at most `bytes_max`; blocks that are being fetched and decompressed take as much once more, or a single
  /// one takes what it needs. They are decompressed on the executor that is made when the first is read; without one,
  /// on the threads that read.
  explicit BlockCache(std::uint64_t bytes_max = kBytesMax, MakeExecutor make_executor = {});
  /// No read may be under way.
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// A number for an object whose blocks are to be read.
  std::uint64_t add_object() { return objects_.fetch_add(1); }
  /// Its blocks are no longer wanted; none of them may be being read.
  void forget_object(std::uint64_t object);

  /// Ends the request with bytes of the block from `place.offset` on, or an error. The range must lie in the block. The
  /// object's source is asked for the block as the request would be, with its deadline; requests for a block that is
  /// being fetched wait for it.
  void read(Source& source, std::uint64_t object, const BlockPlace& place, ReadRequest& request);
  /// Whether the block is here, or will be.
  bool holds(std::uint64_t object, std::size_t block) const;

  /// Bytes of the blocks that it keeps.
  std::uint64_t bytes() const;

 private:
  struct Block;
  using Requests = IntrusiveQueue<ReadRequest>;
  struct Key {
    std::uint64_t object;
    std::size_t block;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.object * 0x9e3779b97f4a7c15 + key.block; }
  };

  bool has_room_to_fetch(const Block& block) const;
  Executor& executor();
  /// Asks for the dictionary of packed values, then for the block.
  void go_on(Block& block) noexcept;
  void go_on_in_turn(IntrusiveQueue<Block> blocks) noexcept;
  void ask_for_dictionary(Block& block) noexcept;
  static void dictionary_came(ReadRequest& inner) noexcept;
  /// Whether it may be fetched now; else it waits.
  bool take_room_to_fetch(Block& block);
  void fetch(Block& block) noexcept;
  static void fetched(ReadRequest& inner) noexcept;
  /// Whether the failed read goes on for those requests that still want the block.
  bool read_again(Block& block) noexcept;
  void decompress_block(Block& block) noexcept;
  void finish(Block& block, std::exception_ptr error) noexcept;
  void make_room();

  const std::uint64_t bytes_max_;
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  std::unordered_map<Key, std::unique_ptr<Block>, KeyHash> blocks_;
  std::list<Block*> kept_;         // decompressed; what was used last is first
  IntrusiveQueue<Block> waiting_;  // to be fetched
  std::uint64_t kept_bytes_ = 0, fetching_bytes_ = 0;
  std::atomic<std::uint64_t> objects_ = 0;
  const MakeExecutor make_executor_;
  std::shared_ptr<Executor> executor_;
};

}  // namespace stoker
