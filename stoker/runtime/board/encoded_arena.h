// Memory for samples that were read and wait to be decoded: one block of bytes used as a ring. Grants are made in
// ticket order and released in any order; nothing is allocated per sample, and the read-ahead is bounded by bytes.
// While little of it is used, the ring is short: memory that was used lately is in the processor's caches.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

/// Not thread-safe: used under the engine's lock.
class EncodedArena {
 public:
  /// Grants begin at and are padded to multiples of this, which a direct read may overwrite: it puts whole records
  /// where they are wanted. (Decoders may look at whole cache lines, too.)
  static constexpr std::size_t kUnit = 512;
  static constexpr std::size_t in_units(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

  EncodedArena(std::size_t capacity, Allocator& allocator);

  /// Whether grant(bytes) would succeed. Always true while nothing is granted: a sample larger than the ring is given
  /// the whole of it, grown for the purpose.
  bool fits(std::size_t bytes) const;

  struct Grant {
    MutableBytes bytes;
    std::uint64_t number = 0;  // for release()
    std::uint64_t place = 0;   // where it begins, if the ring is thought to go on for ever
  };
  /// The caller has checked fits(bytes).
  Grant grant(std::size_t bytes);
  void release(const Grant& grant);

  /// No more than this will be used at once, unless it is said again: the ring begins anew where what is to come fits.
  void expect(std::size_t used_most) { used_most_ = used_most; }

  bool empty() const { return count_ == 0; }
  std::size_t capacity() const { return capacity_; }
  /// Bytes of the oldest grant, the newest, and those between.
  std::size_t used() const;
  /// The place of the oldest grant, or of the next one while there is none: never goes back.
  std::uint64_t front() const { return end_place_ - used(); }

 private:
  struct Block {
    std::size_t begin, end;
    bool released;
  };

  // Where `bytes` would go, or npos.
  std::size_t place_for(std::size_t bytes) const;
  Block& block(std::uint64_t number) { return blocks_[number % blocks_.size()]; }
  const Block& block(std::uint64_t number) const { return blocks_[number % blocks_.size()]; }
  void grow_blocks();

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::size_t capacity_;
  Allocator& allocator_;
  Memory memory_;
  std::vector<Block> blocks_;  // a ring of the granted blocks, oldest first
  std::uint64_t first_ = 0;    // number of the oldest block
  std::uint64_t count_ = 0;
  std::uint64_t end_place_ = 0;  // of the newest grant
  std::size_t used_most_ = kNowhere;
  std::size_t turn_ = 0;  // where the newest block ended when the ring last began anew
};

}  // namespace stoker
