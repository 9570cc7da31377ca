#include "stoker/runtime/engine/read_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/storage/open_file.h"

namespace stoker {
namespace {

/// A field's place, with the padding behind it that a read of whole units may fill, if the source has so many bytes
/// before something else is wanted.
MutableBytes padded(MutableBytes place, std::uint64_t unit, std::uint64_t available) {
  static_assert(kDirectUnit <= EncodedArena::kUnit);
  const std::uint64_t whole = (place.size() + unit - 1) / unit * unit;
  return whole <= available ? MutableBytes(place.data(), static_cast<std::size_t>(whole)) : place;
}

}  // namespace

void PlannedRead::copy_fields() const {
  for (const FieldRead* field = fields; field; field = field->next) {
    if (field->copies) std::copy(field->copies->bytes.begin(), field->copies->bytes.end(), field->bytes.begin());
  }
}

void ReadPlan::add(Ticket& ticket) {
  for (FieldRead& field : ticket.reads) {
    const Waiting one = Waiting::of(field);
    if (field.field->part.empty()) {
      added_.push_back(one);
    } else {
      read_together(std::span(&one, 1));
    }
  }
}

void ReadPlan::add_alone(Ticket& ticket) {
  for (FieldRead& field : ticket.reads) {
    const Waiting one = Waiting::of(field);
    read_together(std::span(&one, 1)).urgent = true;
  }
}

std::span<PlannedRead* const> ReadPlan::plan(std::uint64_t near_end) {
  merge_added();
  std::size_t kept = 0;
  for (std::size_t first = 0; first < waiting_.size();) {
    const std::size_t end = end_of_run(first, near_end);
    const std::span<const Waiting> run(&waiting_[first], end - first);
    if (std::any_of(run.begin(), run.end(), [&](const Waiting& one) { return one.is_near(near_end); })) {
      read_together(run);
    } else {
      for (const Waiting& one : run) waiting_[kept++] = one;
    }
    first = end;
  }
  waiting_.resize(kept);
  planned_.clear();
  planned_.swap(next_);
  std::sort(planned_.begin(), planned_.end(),
            [](const PlannedRead* a, const PlannedRead* b) { return a->place < b->place; });
  return planned_;
}

std::span<PlannedRead* const> ReadPlan::plan_urgent() {
  const auto urgent = std::partition(next_.begin(), next_.end(), [](const PlannedRead* r) { return !r->urgent; });
  planned_.assign(urgent, next_.end());
  next_.erase(urgent, next_.end());
  return planned_;
}

void ReadPlan::merge_added() {
  if (added_.empty()) return;
  std::sort(added_.begin(), added_.end());
  scratch_.clear();
  std::merge(waiting_.begin(), waiting_.end(), added_.begin(), added_.end(), std::back_inserter(scratch_));
  waiting_.swap(scratch_);
  added_.clear();
}

/// Behind the last of those that are read together with the one at `first`.
std::size_t ReadPlan::end_of_run(std::size_t first, std::uint64_t near_end) const {
  const Waiting& head = waiting_[first];
  if (head.early && !head.is_near(near_end)) return first + 1;
  const std::uint64_t gap_max = head.source->gap_worth_reading();
  std::uint64_t end = head.end;
  std::size_t pieces = 1, next = first + 1;
  for (; next < waiting_.size(); ++next) {
    const Waiting& one = waiting_[next];
    if (one.early && !one.is_near(near_end)) break;
    if (one.same_bytes(waiting_[next - 1])) continue;
    // Pieces are filled from the source in turn, so that fields that overlap (parts of an image stored raw) are read
    // apart.
    if (one.source != head.source || one.begin < end || one.begin - end > gap_max) break;
    pieces += one.begin > end ? 2 : 1;
    if (one.end - head.begin > kBytesMax || pieces > kPiecesMax) break;
    end = one.end;
  }
  return next;
}

PlannedRead& ReadPlan::read_together(std::span<const Waiting> run) {
  const Waiting& head = run.front();
  PlannedRead& read = fresh_read();
  read.source = head.source;
  read.place = head.field->ticket->grant.place;
  const std::uint64_t unit = head.source->alignment();
  const std::uint64_t size = unit > 1 ? head.source->size() : 0;
  // Past the object's end lie values of compressed blocks, whose ends are not known here.
  const std::uint64_t source_end = head.begin < size ? size : run.back().end;
  std::uint64_t end = head.begin;
  FieldRead** link = &read.fields;
  const FieldRead* original = nullptr;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const Waiting& one = run[i];
    read.shared |= one.field->ticket != head.field->ticket;
    read.place = std::min(read.place, one.field->ticket->grant.place);
    *link = one.field;
    link = &one.field->next;
    const bool is_copy = i > 0 && one.same_bytes(run[i - 1]);
    one.field->copies = is_copy ? original : nullptr;
    if (is_copy) continue;
    original = one.field;
    if (one.begin > end) read.pieces.push_back(hole(static_cast<std::size_t>(one.begin - end)));
    const auto next = std::find_if(run.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.end(),
                                   [&](const Waiting& other) { return !other.same_bytes(one); });
    const std::uint64_t free_until = next != run.end() ? next->begin : source_end;
    read.pieces.push_back(padded(one.field->bytes, unit, free_until - one.begin));
    end = one.begin + read.pieces.back().size();
    read.wanted += one.end - one.begin;
  }
  *link = nullptr;
  read.request.part = head.field->field->part;
  read.request.offset = head.begin;
  read.request.into = read.pieces;
  next_.push_back(&read);
  return read;
}

PlannedRead& ReadPlan::fresh_read() {
  if (!spare_) {
    reads_.push_back(std::make_unique<PlannedRead>());
    spare_ = reads_.back().get();
  }
  PlannedRead& read = *spare_;
  spare_ = std::exchange(read.next, nullptr);
  read.pieces.clear();
  read.request.error = nullptr;
  read.fields = nullptr;
  read.shared = read.urgent = false;
  read.wanted = 0;
  return read;
}

void ReadPlan::release(PlannedRead* ended) {
  while (ended) {
    PlannedRead* const next = ended->next;
    ended->next = spare_;
    ended->request.error = nullptr;
    spare_ = std::exchange(ended, next);
  }
}

}  // namespace stoker
