// The unit of work: one slot of one batch, from drawn to written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/kind_of.h"
#include "stoker/format/bad_sample.h"
#include "stoker/format/sample_row.h"
#include "stoker/plan/field_window.h"
#include "stoker/runtime/board/encoded_arena.h"
#include "stoker/runtime/board/loader_batch.h"
#include "stoker/runtime/board/raw_windows.h"
#include "stoker/runtime/report/batch_times.h"
#include "stoker/storage/source.h"

namespace stoker {

struct BatchWork;
struct Ticket;

/// One field of a ticket's sample, or a part of one, to be read from its source into the ticket's grant.
struct FieldRead {
  const SampleField* field = nullptr;   // of the ticket's row
  WantedChunks wanted;                  // of the field
  std::uint64_t begin = 0, length = 0;  // of the field's bytes: those to be read
  int continues = -1;                   // the read of the same field's beginning, for one that is not
  Source* source = nullptr;
  MutableBytes bytes;  // where they go
  // The whole field, of which what is wanted is there, once it was read or is kept in the cache; of an array the parts
  // of its window.
  Bytes content;
  Ticket* ticket = nullptr;
  FieldRead* next = nullptr;          // of those that one request reads
  const FieldRead* copies = nullptr;  // the one of that request that reads the same bytes for this one too
};

/// Which sample goes into which slot, and its bytes. Until it is finished a ticket can be issued again: when its read
/// failed, for the same sample, and when that is bad, for one that stands in for it.
struct Ticket {
  BatchWork* work = nullptr;
  int slot = 0;
  std::int64_t position = 0;
  std::int64_t sample = -1;  // -1: padding
  SampleRow row;             // all that is known of it, once it was located
  // One per field of the plan; then further parts of them, and at last its image's entry points if they are wanted.
  std::vector<FieldRead> reads;
  std::vector<FieldWindow> windows;  // by field of the plan: of arrays, what their crops need
  int entry_points_of = -1;          // which of the plan's fields they are for; -1: none
  bool early = false;                // of a window that was not read ahead, since reading began within it
  bool wants_read = false;           // there is something to read, of 0 bytes perhaps
  bool cached = false;               // its bytes are those that the cache keeps
  std::uint64_t bytes = 0;           // of all reads, each padded to the arena's unit
  EncodedArena::Grant grant;         // holds the bytes of all reads
  bool granted = false;
  int reads_pending = 0;
  int attempts = 0;              // reads of this sample so far
  std::int64_t again_ns = 0;     // when it may be read again; 0: not known yet
  std::int64_t bad_sample = -1;  // the one that this one stands in for
  std::string bad_key;           // the same
  std::int64_t substitutes = 0;  // tried so far
  std::exception_ptr error;      // what went wrong first
  bool error_shared = false;     // with other tickets of the same read: it may be about their bytes

  bool padding() const { return sample < 0; }
  /// Of the field of a read; null if the field is read as a whole, or is an image stored raw.
  const FieldWindow* window_of(std::size_t read) const {
    const std::size_t field = reads[read].continues < 0 ? read : static_cast<std::size_t>(reads[read].continues);
    return field < windows.size() && !windows[field].whole() ? &windows[field] : nullptr;
  }
};

/// A sample whose bytes are bad, as one slot met it.
struct BadSlot {
  int slot = 0;
  std::int64_t sample = 0;
  BadSample bad;
  bool known = false;  // the quarantine has had it from the beginning
};

/// A batch on its way: its tickets are drawn, read, written; then it is sealed.
struct BatchWork {
  std::int64_t epoch = 0;
  std::int64_t index = 0;              // of the epoch's global batches
  std::unique_ptr<LoaderBatch> batch;  // null until memory is granted
  bool granting = false;               // which was chosen, and is being made ready
  int slots = 0;                       // that it has
  std::vector<Ticket> tickets;         // one per slot, and as many as other batches have
  int drawn = 0;                       // tickets issued so far
  int passed_over = 0;                 // of the rank's slice, so far: positions at which no sample stands
  int unfinished = 0;                  // of those, not yet finished; and what else is done to the batch now
  int read = 0;                        // of the drawn tickets, those that were read
  int remaining = 0;                   // slots not yet written
  std::vector<int> blocks;             // by block of slots whose samples are mixed: those not yet written
  int tasks = 0;                       // that workers do for it now (BatchTask)
  bool called = false;                 // functions of whole batches have been called for it, or are
  bool awaits_steps = false;           // all are written, and the batch has steps before it (BatchStep)
  bool in_steps = false;               // a worker takes it through them
  std::vector<Ticket*> ready;          // read and waiting for a worker, from `ready_first` on
  std::size_t ready_first = 0;
  std::vector<BadSlot> bad;  // what was found out
  bool discarded = false;    // it is not wanted any more
  std::exception_ptr error;  // of the lowest slot that failed
  int error_slot = 0;
  BatchTimes times;

  bool written() const { return remaining == 0 && tasks == 0; }
  bool sealed() const { return written() && !awaits_steps; }
  std::size_t ready_count() const { return ready.size() - ready_first; }
  /// Never allocates: a ticket that comes again, for another sample, takes the place of one that was taken.
  void make_ready(Ticket& ticket) noexcept {
    if (ready.size() == tickets.size()) {
      ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(ready_first));
      ready_first = 0;
    }
    ready.push_back(&ticket);
  }
};

/// What names the random numbers of a batch,
inline SampleDraw batch_draw(const BatchWork& work, std::uint64_t seed) {
  return {
      .seed = seed, .epoch = static_cast<std::uint64_t>(work.epoch), .batch = static_cast<std::uint64_t>(work.index)};
}
/// and of a ticket of it.
inline SampleDraw sample_draw(const Ticket& ticket, std::uint64_t seed) {
  SampleDraw draw = batch_draw(*ticket.work, seed);
  draw.position = static_cast<std::uint64_t>(ticket.position);
  return draw;
}

}  // namespace stoker
