// What the reader reads next. The fields that were granted their memory wait here until they are wanted soon; then each
// is read together with those waiting that lie close to it, whatever tickets they belong to: a request of a megabyte
// costs storage little more than one of a few kilobytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/runtime/board/ticket.h"
#include "stoker/storage/bounce_pool.h"
#include "stoker/storage/source.h"

namespace stoker {

/// One request, and the fields that it fills. What lies between them is a hole of the request. Fields of the same
/// bytes, of a sample that is drawn several times, follow each other: the first is read, the others copy it.
struct PlannedRead {
  ReadRequest request;
  std::vector<MutableBytes> pieces;  // of the request
  Source* source = nullptr;
  FieldRead* fields = nullptr;  // joined by their `next`
  bool shared = false;          // by several tickets
  bool urgent = false;          // a batch waits for it that would be done without
  std::uint64_t wanted = 0;     // bytes of the fields that are read; request.length() counts the holes too
  std::uint64_t place = 0;      // in the arena, of the oldest field
  void* engine = nullptr;       // that started it
  std::int64_t started_ns = 0;  // when, if that is traced
  std::uint64_t chained = 0;    // bytes of it and of those before it that have ended in the same round
  PlannedRead* next = nullptr;  // of reads that wait to be started, or have ended

  /// Fills the fields that copy others, once these were read.
  void copy_fields() const;
};

/// No threads and no locks: for the reader alone. Allocates nothing once it has seen as much as there ever is.
class ReadPlan {
 public:
  /// A longer read is no faster. A direct one fits into a bounce buffer, wherever it begins.
  static constexpr std::uint64_t kBytesMax = BouncePool::kBufferBytes - BouncePool::kAlignment;
  static constexpr std::size_t kPiecesMax = 256;

  /// The ticket's fields, granted, wait to be read. Loose files have no neighbours: any plan() has their reads.
  void add(Ticket& ticket);
  /// The ticket's fields are to be read each by itself, and at once: before all others.
  void add_alone(Ticket& ticket);
  /// Whether there are fields that no plan has had.
  bool waiting() const { return !waiting_.empty() || !added_.empty() || !next_.empty(); }

  /// The reads to be started now, the oldest ticket's first: of all fields whose place in the arena is before
  /// `near_end`, and of what lies close to them: unless a window's reading has just begun and its source is far away.
  /// To wait for all of it would hold up the batches that want a little of many windows. Valid until the next call; the
  /// reads themselves until released.
  std::span<PlannedRead* const> plan(std::uint64_t near_end);
  /// The same of those alone that were added by add_alone(): the others go on waiting.
  std::span<PlannedRead* const> plan_urgent();

  /// A list of reads that have ended, to be used again.
  void release(PlannedRead* ended);

  /// Forgets the waiting tickets that `is_unwanted(const Ticket&)`, and calls `forget(Ticket&)` for each.
  template <typename IsUnwanted, typename Forget>
  void forget_if(IsUnwanted is_unwanted, Forget forget);

 private:
  struct Waiting {
    Source* source;
    std::uint64_t begin, end;  // in the source
    FieldRead* field;
    bool early;  // see Ticket, and of a source that is far away

    static Waiting of(FieldRead& read) {
      const std::uint64_t begin = read.field->offset + read.begin;
      return {read.source, begin, begin + read.length, &read, read.ticket->early && read.source->is_remote()};
    }
    bool is_near(std::uint64_t near_end) const { return field->ticket->grant.place < near_end; }
    /// Of a sample that is drawn several times.
    bool same_bytes(const Waiting& other) const {
      return source == other.source && begin == other.begin && end == other.end;
    }
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.source != b.source) return std::less<>()(a.source, b.source);
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    }
  };

  void merge_added();
  std::size_t end_of_run(std::size_t first, std::uint64_t near_end) const;
  PlannedRead& read_together(std::span<const Waiting> run);
  PlannedRead& fresh_read();

  std::vector<Waiting> waiting_;  // sorted
  std::vector<Waiting> added_;    // not yet
  std::vector<Waiting> scratch_;
  std::vector<PlannedRead*> next_;     // for the plan() to come
  std::vector<PlannedRead*> planned_;  // of the last one

  std::vector<std::unique_ptr<PlannedRead>> reads_;  // all that were ever needed at once
  PlannedRead* spare_ = nullptr;
};

template <typename IsUnwanted, typename Forget>
void ReadPlan::forget_if(IsUnwanted is_unwanted, Forget forget) {
  merge_added();
  scratch_.clear();
  std::size_t kept = 0;
  for (const Waiting& one : waiting_) {
    if (is_unwanted(*one.field->ticket)) {
      scratch_.push_back(one);
    } else {
      waiting_[kept++] = one;
    }
  }
  waiting_.resize(kept);
  for (const Waiting& one : scratch_) {
    Ticket& ticket = *one.field->ticket;
    if (--ticket.reads_pending == 0) forget(ticket);
  }
}

}  // namespace stoker
