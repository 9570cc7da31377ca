#include "stoker/storage/block_cache.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/storage/run_in_turn.h"

namespace stoker {
namespace {

/// What a waiting request keeps in its scratch.
struct WantedOfBlock {
  std::uint64_t offset;
};

using BlockBytes = std::unique_ptr<std::uint8_t[]>;

BlockBytes uninitialised(std::uint64_t bytes) { return BlockBytes(new std::uint8_t[static_cast<std::size_t>(bytes)]); }

void copy_out(const std::uint8_t* block, ReadRequest& request) {
  const std::uint64_t offset = request.scratch.get<WantedOfBlock>().offset;
  PieceCursor(request.into).copy_from(Bytes(block + offset, static_cast<std::size_t>(request.length())));
}

void end_all(IntrusiveQueue<ReadRequest> requests) noexcept {
  while (ReadRequest* const request = requests.pop()) request->done(*request);
}

bool is_unwanted(const ReadRequest& request) { return request.stop.stop_requested() || now_ns() > request.deadline_ns; }

}  // namespace

/// A block that is waiting to be fetched, being fetched or decompressed, or kept.
struct BlockCache::Block {
  BlockCache* cache = nullptr;
  Source* source = nullptr;
  Key key{};
  BlockPlace what{};
  bool is_shared = true;        // else it is one request's alone, in a forked child
  bool is_charged = false;      // for the memory that fetching takes
  bool has_dictionary = false;  // where packed values need one
  BlockBytes dictionary{}, stored{}, bytes{};
  ReadRequest read{};
  MutableBytes into{};
  Requests requests{};  // that wait for it
  int readers = 0;      // that copy from it
  bool is_kept = false;
  std::list<Block*>::iterator place{};  // where it is kept
  Block* next = nullptr;

  std::uint64_t fetching_bytes() const {
    const std::uint64_t unpacked = what.packed ? what.length : 0;
    return what.block.stored_length + what.block.length + what.dictionary.length + unpacked;
  }
  bool needs_dictionary() const { return what.has_dictionary() && !has_dictionary; }
};

BlockCache::BlockCache(std::uint64_t bytes_max, MakeExecutor make_executor)
    : bytes_max_(bytes_max), make_executor_(std::move(make_executor)) {}

BlockCache::~BlockCache() = default;

void BlockCache::forget_object(std::uint64_t object) {
  if (!home_.here()) return;
  const std::lock_guard lock(mutex_);
  for (auto block = kept_.begin(); block != kept_.end();) {
    if ((*block)->key.object != object) {
      ++block;
      continue;
    }
    kept_bytes_ -= (*block)->what.length;
    blocks_.erase((*block)->key);
    block = kept_.erase(block);
  }
}

bool BlockCache::holds(std::uint64_t object, std::size_t block) const {
  if (!home_.here()) return false;
  const std::lock_guard lock(mutex_);
  return blocks_.contains({object, block});
}

std::uint64_t BlockCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

bool BlockCache::has_room_to_fetch(const Block& block) const {
  return fetching_bytes_ == 0 || fetching_bytes_ + block.fetching_bytes() <= bytes_max_;
}

void BlockCache::read(Source& source, std::uint64_t object, const BlockPlace& place, ReadRequest& request) {
  request.scratch.make<WantedOfBlock>().offset = place.offset;
  Block *kept = nullptr, *missing = nullptr;
  // Once it waits, another thread may end the request.
  const std::exception_ptr error = thrown_by([&] {
    const auto make = [&](bool is_shared) {
      auto block = std::make_unique<Block>();
      block->cache = this;
      block->source = &source;
      block->key = {object, place.number};
      block->what = place;
      block->is_shared = is_shared;
      block->read.deadline_ns = request.deadline_ns;
      block->read.stop = request.stop;
      block->requests.push(request);
      return block;
    };
    if (!home_.here()) {  // where another thread may have held the lock during the fork
      missing = make(false).release();
      return;
    }
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find({object, place.number});
    if (found == blocks_.end()) {
      Block& block = *blocks_.emplace(Key{object, place.number}, make(true)).first->second;
      if (block.needs_dictionary() || take_room_to_fetch(block)) missing = &block;
    } else if (found->second->is_kept) {
      kept = found->second.get();
      ++kept->readers;
      kept_.splice(kept_.begin(), kept_, kept->place);
    } else {
      found->second->requests.push(request);
    }
  });
  if (missing) return go_on_in_turn(IntrusiveQueue<Block>(*missing));
  if (kept) {
    copy_out(kept->bytes.get(), request);
    const std::lock_guard lock(mutex_);
    --kept->readers;
  }
  if (error) request.error = error;
  if (kept || error) request.done(request);
}

bool BlockCache::take_room_to_fetch(Block& block) {
  if (!has_room_to_fetch(block)) {
    waiting_.push(block);
    return false;
  }
  fetching_bytes_ += block.fetching_bytes();
  block.is_charged = true;
  return true;
}

void BlockCache::go_on_in_turn(IntrusiveQueue<Block> blocks) noexcept {
  run_in_turn(this, blocks, [](Block& block) { block.cache->go_on(block); });
}

void BlockCache::go_on(Block& block) noexcept { block.needs_dictionary() ? ask_for_dictionary(block) : fetch(block); }

// Before it takes room itself: what waits for another block must not keep that from being fetched.
void BlockCache::ask_for_dictionary(Block& block) noexcept {
  const std::uint64_t length = block.what.dictionary.length;
  const std::exception_ptr error = thrown_by([&] {
    if (!block.dictionary) block.dictionary = uninitialised(length);
  });
  if (error) return finish(block, error);
  block.into = MutableBytes(block.dictionary.get(), static_cast<std::size_t>(length));
  block.read.into = Pieces(&block.into, 1);
  block.read.context = &block;
  block.read.done = &dictionary_came;
  const BlockPlace dictionary{
      .number = block.what.packed->dictionary, .block = block.what.dictionary, .length = length};
  read(*block.source, block.key.object, dictionary, block.read);
}

void BlockCache::dictionary_came(ReadRequest& inner) noexcept {
  auto& block = *static_cast<Block*>(inner.context);
  BlockCache& cache = *block.cache;
  if (inner.error) {
    if (!cache.read_again(block)) cache.finish(block, std::exchange(inner.error, nullptr));
    return;
  }
  block.has_dictionary = true;
  if (block.is_shared) {
    const std::lock_guard lock(cache.mutex_);
    if (!cache.take_room_to_fetch(block)) return;
  }
  cache.go_on_in_turn(IntrusiveQueue<Block>(block));
}

void BlockCache::fetch(Block& block) noexcept {
  const CompressedBlock& wanted = block.what.block;
  const std::exception_ptr error = thrown_by([&] {
    if (!block.stored) block.stored = uninitialised(wanted.stored_length);
    if (!block.bytes) block.bytes = uninitialised(block.what.length);
  });
  if (error) return finish(block, error);
  block.into = MutableBytes(block.stored.get(), static_cast<std::size_t>(wanted.stored_length));
  block.read.offset = wanted.offset;
  block.read.into = Pieces(&block.into, 1);
  block.read.context = &block;
  block.read.done = &fetched;
  block.source->start(block.read);
}

void BlockCache::fetched(ReadRequest& inner) noexcept {
  auto& block = *static_cast<Block*>(inner.context);
  BlockCache& cache = *block.cache;
  if (inner.error) {
    if (!cache.read_again(block)) cache.finish(block, std::exchange(inner.error, nullptr));
    return;
  }
  if (!block.is_shared) return cache.decompress_block(block);
  const std::exception_ptr error = thrown_by([&] {
    cache.executor().submit({[](void* one) noexcept {
                               auto& fetched = *static_cast<Block*>(one);
                               fetched.cache->decompress_block(fetched);
                             },
                             &block});
  });
  if (error) cache.finish(block, error);
}

bool BlockCache::read_again(Block& block) noexcept {
  if (!block.is_shared || !is_unwanted(block.read)) return false;
  Requests unwanted, wanted;
  {
    const std::lock_guard lock(mutex_);
    while (ReadRequest* const request = block.requests.pop())
      (is_unwanted(*request) ? unwanted : wanted).push(*request);
    block.requests = wanted;
    if (wanted.empty()) {
      block.requests = unwanted;
      return false;
    }
    block.read.deadline_ns = wanted.front()->deadline_ns;
    block.read.stop = wanted.front()->stop;
  }
  for (ReadRequest* request = unwanted.front(); request; request = request->next) {
    request->error = thrown_by([&] { require_wanted(block.source->name(), *request); });
  }
  block.read.error = nullptr;
  go_on_in_turn(IntrusiveQueue<Block>(block));
  end_all(unwanted);
  return true;
}

Executor& BlockCache::executor() {
  const std::lock_guard lock(mutex_);
  if (!executor_) {
    executor_ = make_executor_ ? make_executor_() : std::make_shared<InlineExecutor>();
  }
  return *executor_;
}

void BlockCache::decompress_block(Block& block) noexcept {
  const CompressedBlock& from = block.what.block;
  finish(block, thrown_by([&] {
           try {
             const Bytes stored(block.stored.get(), static_cast<std::size_t>(from.stored_length));
             const MutableBytes bytes(block.bytes.get(), static_cast<std::size_t>(block.what.length));
             if (!block.what.packed) return decompress(from.codec, stored, bytes);
             const bool is_stored = from.codec == BlockCodec::kStored;
             const BlockBytes memory = is_stored ? nullptr : uninitialised(from.length);
             const MutableBytes made(memory.get(), is_stored ? 0 : static_cast<std::size_t>(from.length));
             if (!is_stored) decompress(from.codec, stored, made);
             const Bytes dictionary(block.dictionary.get(), static_cast<std::size_t>(block.what.dictionary.length));
             unpack_values(*block.what.packed, is_stored ? stored : Bytes(made), dictionary, bytes);
           } catch (const Error& error) {
             throw Error(error.kind(), fmt::format("'{}': the block at byte {} cannot be read: {}",
                                                   block.source->name(), from.offset, error.message()));
           }
         }));
}

void BlockCache::finish(Block& block, std::exception_ptr error) noexcept {
  block.stored.reset();
  block.dictionary.reset();
  block.read.stop = {};
  Requests requests;
  std::unique_ptr<Block> owned(block.is_shared ? nullptr : &block);  // once no other thread can find it
  if (!block.is_shared) {
    requests = block.requests;
  } else {
    const std::lock_guard lock(mutex_);
    if (!error) error = thrown_by([&] { kept_.push_front(&block); });
    if (error) {
      const auto found = blocks_.find(block.key);
      owned = std::move(found->second);
      blocks_.erase(found);
    } else {
      block.place = kept_.begin();
      block.is_kept = true;
      block.readers = 1;
      kept_bytes_ += block.what.length;
    }
    requests = std::exchange(block.requests, {});
  }
  for (ReadRequest* request = requests.front(); request; request = request->next) {
    request->error = error;
    if (!error) copy_out(block.bytes.get(), *request);
  }
  if (!block.is_shared) return end_all(requests);
  IntrusiveQueue<Block> next;
  {
    const std::lock_guard lock(mutex_);
    if (block.is_charged) fetching_bytes_ -= block.fetching_bytes();
    --block.readers;
    if (!error) make_room();
    while (!waiting_.empty() && has_room_to_fetch(*waiting_.front())) {
      Block& first = *waiting_.pop();
      take_room_to_fetch(first);
      next.push(first);
    }
  }
  // The cache may be gone once the last request has ended.
  if (!next.empty()) go_on_in_turn(next);
  end_all(requests);
}

void BlockCache::make_room() {
  for (auto last = kept_.end(); kept_bytes_ > bytes_max_ && last != kept_.begin();) {
    --last;
    if ((*last)->readers > 0) continue;
    kept_bytes_ -= (*last)->what.length;
    blocks_.erase((*last)->key);
    last = kept_.erase(last);
  }
}

}  // namespace stoker
