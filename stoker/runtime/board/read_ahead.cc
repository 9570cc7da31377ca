#include "stoker/runtime/board/read_ahead.h"

#include <algorithm>
#include <exception>
#include <iterator>

namespace stoker {
namespace {

// A disk or a network that fails once may well answer the second time; one that fails three times is broken. Memory and
// descriptors that are missing may be there again, too.
constexpr int kReadAttempts = 3;

bool may_pass(const std::exception_ptr& exception) {
  const std::optional<ErrorKind> kind = kind_of(exception);
  return kind == ErrorKind::kIo || kind == ErrorKind::kMemory;
}

}  // namespace

ReadAhead::ReadAhead(ReadAheadOptions options, Allocator& allocator)
    : options_(options),
      allocator_(allocator),
      arena_(options.bytes, allocator),
      depth_(std::max(options.least_bytes, EncodedArena::kUnit), arena_.capacity()) {
  depth_changed();
}

void ReadAhead::depth_changed() {
  arena_.expect(depth_.bytes());
  const double part = static_cast<double>(depth_.bytes()) / static_cast<double>(arena_.capacity());
  near_bytes_ = static_cast<std::size_t>(part * static_cast<double>(options_.near_bytes));
}

void ReadAhead::starved(std::int64_t ns) {
  depth_.starved(ns);
  depth_changed();
}

bool ReadAhead::fits_in_arena(std::size_t bytes) const {
  return arena_.empty() || (arena_.used() + EncodedArena::in_units(bytes) <= depth_.bytes() && arena_.fits(bytes));
}

void ReadAhead::expect(std::size_t tickets) {
  again_.reserve(tickets);
  substitutes_.reserve(tickets);
}

bool ReadAhead::fits(const Ticket& ticket) const {
  if (ticket.work->discarded) return true;
  return ticket.bad_sample < 0 ? fits_in_arena(ticket.bytes) : reserve_->fits(ticket.bytes);
}

bool ReadAhead::grant(Ticket& ticket) {
  const bool is_substitute = ticket.bad_sample >= 0;
  if (is_substitute && !reserve_) reserve_.emplace(options_.reserve_bytes, allocator_);
  Ticket*& refused = is_substitute ? refused_substitute_ : refused_;
  refused = nullptr;
  if (!ticket.wants_read || ticket.work->discarded) return true;
  if (!is_substitute) depth_.wants(ticket.bytes);
  if (!fits(ticket)) {
    refused = &ticket;
    return false;
  }
  ticket.grant = (is_substitute ? *reserve_ : arena_).grant(ticket.bytes);
  ticket.granted = true;
  if (!is_substitute) depth_.granted(ticket.bytes);
  if (!is_substitute) depth_changed();
  std::size_t offset = 0;
  for (std::size_t i = 0; i < ticket.reads.size(); ++i) {
    FieldRead& read = ticket.reads[i];
    const SampleField& field = *read.field;
    const FieldWindow* const window = ticket.window_of(i);
    read.source = &field == &ticket.row.entry_points ? ticket.row.entry_points_source : ticket.row.source;
    read.ticket = &ticket;
    MutableBytes whole;
    if (read.continues < 0) {
      whole = ticket.grant.bytes.subspan(offset, static_cast<std::size_t>(window ? window->bytes() : field.length));
      offset += EncodedArena::in_units(whole.size());
    } else {
      const FieldRead& beginning = ticket.reads[static_cast<std::size_t>(read.continues)];
      whole = {beginning.bytes.data(), beginning.content.size()};
    }
    const std::uint64_t at = window ? window->place_of(read.begin) : read.begin;
    read.bytes = whole.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(read.length));
    read.content = whole;
  }
  request_reads(ticket);
  return true;
}

void ReadAhead::release(Ticket& ticket) {
  if (!ticket.granted) return;
  (ticket.bad_sample < 0 ? arena_ : *reserve_).release(ticket.grant);
  ticket.granted = false;
}

void ReadAhead::request_reads(Ticket& ticket) {
  ticket.error = nullptr;
  ticket.error_shared = false;
  ticket.reads_pending = static_cast<int>(ticket.reads.size());
  ++ticket.attempts;
}

// --- reading once more

std::int64_t read_again_delay_ns(int attempts) {
  constexpr std::int64_t kFirst = 10'000'000, kMost = 1'000'000'000;
  return std::min(kMost, kFirst << std::clamp(2 * (attempts - 1), 0, 30));
}

bool ReadAhead::keep_to_read_again(Ticket& ticket) {
  const bool may_be_well = ticket.error && (ticket.error_shared || may_pass(ticket.error));
  if (!may_be_well || ticket.attempts == 0 || ticket.attempts >= kReadAttempts) return false;
  ticket.again_ns = 0;
  again_.push_back(&ticket);
  return true;
}

Ticket* ReadAhead::again(std::int64_t now_ns) {
  for (Ticket* ticket : again_) {
    if (ticket->again_ns != 0) continue;
    // What others' bytes may have spoilt is read by itself at once.
    ticket->again_ns = now_ns + (ticket->error_shared ? 0 : read_again_delay_ns(ticket->attempts));
  }
  const auto due = std::find_if(again_.rbegin(), again_.rend(), [&](const Ticket* t) { return t->again_ns <= now_ns; });
  if (due == again_.rend()) return nullptr;
  Ticket* const ticket = *due;
  again_.erase(std::next(due).base());
  request_reads(*ticket);
  return ticket;
}

std::optional<std::int64_t> ReadAhead::next_again_ns() const {
  std::optional<std::int64_t> first;
  for (const Ticket* ticket : again_) {
    if (ticket->again_ns != 0 && (!first || ticket->again_ns < *first)) first = ticket->again_ns;
  }
  return first;
}

Ticket* ReadAhead::substitute() {
  if (substitutes_.empty()) return nullptr;
  Ticket* const ticket = substitutes_.back();
  substitutes_.pop_back();
  return ticket;
}

bool ReadAhead::has_again() const {
  const auto is_new = [](const Ticket* ticket) { return ticket->again_ns == 0; };
  if (!substitutes_.empty() || std::any_of(again_.begin(), again_.end(), is_new)) return true;
  return refused_substitute_ && fits(*refused_substitute_);
}

void ReadAhead::forget_again() {
  for (std::vector<Ticket*>* waiting : {&again_, &substitutes_}) {
    for (Ticket* ticket : *waiting) {
      release(*ticket);
      --ticket->work->unfinished;
    }
    waiting->clear();
  }
}

}  // namespace stoker
