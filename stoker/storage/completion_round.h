// Reads that end on a thread one right after the other. A caller has more to do for each than to note it: it takes a
// lock, wakes a worker, begins another read. Done once for all of them, this costs a fraction.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace stoker {

/// Opened by a thread that is about to end any number of reads, on its stack. What their `done` functions left to it is
/// done as it closes.
class CompletionRound {
 public:
  using Finish = void (*)(void* owner, void* chain) noexcept;

  CompletionRound() : outer_(std::exchange(open_, this)) {}
  ~CompletionRound() {
    open_ = outer_;  // what comes up from here on is not ours
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].chain) entries_[i].finish(entries_[i].owner, entries_[i].chain);
    }
  }
  CompletionRound(const CompletionRound&) = delete;
  CompletionRound& operator=(const CompletionRound&) = delete;

  /// For a read that ends on this thread: where `owner` keeps the chain of its reads that ended in the round. What that
  /// leads to when the round closes is for `finish`, unless it is null then; until then the owner must stay. Null: no
  /// round is open here, or it has no room.
  static void** chain(Finish finish, void* owner) { return open_ ? open_->chain_of(finish, owner) : nullptr; }

 private:
  struct Entry {
    Finish finish;
    void* owner;
    void* chain;
  };

  void** chain_of(Finish finish, void* owner) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].owner == owner && entries_[i].finish == finish) return &entries_[i].chain;
    }
    if (count_ == entries_.size()) return nullptr;
    entries_[count_] = {finish, owner, nullptr};
    return &entries_[count_++].chain;
  }

  static inline thread_local CompletionRound* open_ = nullptr;

  CompletionRound* const outer_;
  std::array<Entry, 8> entries_;  // loaders that read at once
  std::size_t count_ = 0;
};

}  // namespace stoker
