// The encoded bytes of tickets on their way, within a budget, and the tickets that are to be read once more: the same
// sample because its read failed, or one that stands in for a bad one. No threads and no locks: the engine calls it
// under its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/runtime/board/encoded_arena.h"
#include "stoker/runtime/board/read_ahead_depth.h"
#include "stoker/runtime/board/ticket.h"

namespace stoker {

struct ReadAheadOptions {
  std::size_t bytes = 0;                      // that encoded samples may take
  std::size_t least_bytes = ~std::size_t{0};  // of those, what they take where it keeps the workers busy; at most all
  std::size_t near_bytes = 0;     // of `bytes`, what is read at once: the rest waits for neighbours to be drawn
  std::size_t reserve_bytes = 0;  // besides, for samples that stand in for bad ones: it grows
};

class ReadAhead {
 public:
  ReadAhead(ReadAheadOptions options, Allocator& allocator);

  /// Makes room in the lists for so many tickets, so that they may come back where nothing may throw.
  void expect(std::size_t tickets);

  /// Grants the bytes of what a ticket will read, and says in its reads what goes where. To be called in the order of
  /// drawing; false while there is no room. If it has reads pending they are now to be made; otherwise it was read.
  bool grant(Ticket& ticket);
  void release(Ticket& ticket);
  /// Whether there is room for a ticket, or it needs none.
  bool fits(const Ticket& ticket) const;
  /// The ticket that grant() had no room for, but for those that stand in for others; null: there is none.
  const Ticket* refused() const { return refused_; }
  /// Whether grant() had no room for any ticket.
  bool refuses() const { return refused_ || refused_substitute_; }

  /// The ticket's last read has ended. True if it is to be made again, because it failed and that may pass.
  bool keep_to_read_again(Ticket& ticket);
  /// A ticket whose read failed and is to be made again by itself, its bytes granted still; null without one whose
  /// time has come. The first call after the read failed sets that time (read_again_delay_ns()).
  Ticket* again(std::int64_t now_ns);
  /// When the first of those that again() looked at and did not give out may be read; nothing without any.
  std::optional<std::int64_t> next_again_ns() const;

  /// The ticket's sample was bad, and now is another.
  void add_substitute(Ticket& ticket) { substitutes_.push_back(&ticket); }
  /// Such a ticket: to be located, granted and read; null without one.
  Ticket* substitute();

  /// Whether there is one of either that was not looked at, or room for a substitute that there was none for: a batch
  /// waits for them.
  bool has_again() const;
  /// Forgets those of either, whose works were discarded.
  void forget_again();

  /// A worker had nothing to do for so long, and there was no room to read more: there may be more from here on.
  void starved(std::int64_t ns);

  std::size_t used() const { return arena_.used(); }
  std::size_t capacity() const { return arena_.capacity(); }
  /// What encoded samples take at most for now.
  std::size_t depth() const { return depth_.bytes(); }
  std::size_t near_bytes() const { return near_bytes_; }
  /// Samples whose place in the arena is before this are wanted soon.
  std::uint64_t near_end() const { return arena_.front() + near_bytes_; }
  /// No place is after this. Never goes back.
  std::uint64_t end() const { return arena_.front() + arena_.capacity(); }

 private:
  bool fits_in_arena(std::size_t bytes) const;
  void depth_changed();
  void request_reads(Ticket& ticket);

  const ReadAheadOptions options_;
  Allocator& allocator_;
  EncodedArena arena_;
  ReadAheadDepth depth_;
  std::size_t near_bytes_ = 0;
  std::optional<EncodedArena> reserve_;   // once there was need of it
  Ticket* refused_ = nullptr;             // the one that there was no room for
  Ticket* refused_substitute_ = nullptr;  // the same in the reserve
  std::vector<Ticket*> again_;            // to be read again
  std::vector<Ticket*> substitutes_;      // to be located
};

/// How long to wait before a read is made again that has failed so many times: what failed may need a moment, and
/// others that need it must not wait behind reads that only fail.
std::int64_t read_again_delay_ns(int attempts);

}  // namespace stoker
