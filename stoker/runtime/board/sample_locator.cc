#include "stoker/runtime/board/sample_locator.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/record_field.h"

namespace stoker {
namespace {

std::uint64_t bytes_of(const std::vector<FieldRead>& reads) {
  std::uint64_t sum = 0;
  for (const FieldRead& read : reads) sum += read.field->length;
  return sum;
}

std::string field_list(const SampleRow& row) {
  std::string list;
  for (const SampleField& field : row.fields) list += fmt::format("{}{}", list.empty() ? "" : ", ", field.name);
  return list;
}

}  // namespace

void SampleLocator::locate(std::span<Ticket* const> tickets) const {
  for (Ticket* const ticket : tickets) find_row(*ticket);
  read_array_headers(tickets);
  for (Ticket* const ticket : tickets) choose_reads(*ticket);
}

void SampleLocator::find_row(Ticket& ticket) const {
  ticket.bytes = 0;
  ticket.wants_read = ticket.cached = false;
  ticket.entry_points_of = -1;
  ticket.reads.resize(options_.fields.size());
  ticket.windows.resize(options_.fields.size());
  ticket.row.clear();
  if (ticket.padding()) return;
  try {
    dataset_.read(ticket.sample, ticket.row);
    read_by_caches(ticket.row);
    if (knows_bad(ticket.row)) {
      fail(ErrorKind::kBadSample, "'{}' lists it as bad", options_.quarantine->path());
    }
    add_lacking_fields(ticket.row, options_.optional);
    for (std::size_t i = 0; i < options_.fields.size(); ++i) add_field(ticket, i);
  } catch (const Error&) {
    ticket.error = std::current_exception();
  }
}

void SampleLocator::add_field(Ticket& ticket, std::size_t number) const {
  const SampleField* const field = find_field(ticket.row, options_.fields[number]);
  if (!field) {
    fail(ErrorKind::kBadSample, "it has no field '{}', only {} (a view of boxes, a text or tokens may be optional)",
         options_.fields[number], field_list(ticket.row));
  }
  FieldRead& read = ticket.reads[number];
  read.field = field;
  read.begin = 0;
  read.length = field->length;
  read.wanted = options_.raw_windows.chunks(number, ticket.row, *field, sample_draw(ticket, options_.seed));
  ticket.windows[number].clear();
}

// (A cache keeps fields as a whole.)
void SampleLocator::read_array_headers(std::span<Ticket* const> tickets) const {
  if (!array_windows_.any() || options_.cache) return;
  array_fields_.clear();
  for (const Ticket* const ticket : tickets) {
    if (ticket->padding() || ticket->error) continue;
    for (std::size_t i = 0; i < options_.fields.size(); ++i) {
      array_fields_.push_back({i, ticket->sample, &ticket->row, ticket->reads[i].field});
    }
  }
  array_windows_.read_headers(array_fields_);
}

void SampleLocator::choose_reads(Ticket& ticket) const {
  if (ticket.padding() || ticket.error) return;
  try {
    if (!options_.cache) leave_out_unwanted(ticket);
    std::uint64_t bytes = 0;  // without padding
    for (std::size_t i = 0; i < options_.fields.size(); ++i) {
      const FieldWindow* const window = ticket.window_of(i);
      const std::uint64_t length = window ? window->bytes() : ticket.reads[i].field->length;
      bytes += length;
      check_length(bytes);
      ticket.bytes += EncodedArena::in_units(static_cast<std::size_t>(length));
    }
    add_entry_points(ticket);
    ticket.cached = find_in_cache(ticket);
    ticket.wants_read = !ticket.cached && !options_.fields.empty();
  } catch (const Error&) {
    ticket.error = std::current_exception();
  }
}

void SampleLocator::check_length(std::uint64_t bytes) const {
  if (bytes <= options_.sample_bytes_max) return;
  fail(ErrorKind::kLimit, "the sample is {} long, and the memory budget has room for {}; give the loader {}",
       format_size(static_cast<double>(bytes)), format_size(static_cast<double>(options_.sample_bytes_max)),
       options_.enough_memory ? options_.enough_memory(bytes) : std::string("more memory"));
}

// Of fields of which parts are enough.
void SampleLocator::leave_out_unwanted(Ticket& ticket) const {
  const SampleDraw draw = sample_draw(ticket, options_.seed);
  for (std::size_t i = 0; i < options_.fields.size(); ++i) {
    const SampleField& field = *ticket.reads[i].field;
    if (array_windows_.any()) {
      array_windows_.find({i, ticket.sample, &ticket.row, &field}, draw, ticket.windows[i]);
      if (!ticket.windows[i].whole()) {
        read_window(ticket, i);
        continue;
      }
    }
    const WantedChunks wanted = ticket.reads[i].wanted;
    if (wanted.whole()) continue;
    const std::uint64_t begin = wanted.first * kChunkBytes, length = field.length;
    const std::uint64_t end = std::min(wanted.end * kChunkBytes, length);
    if (wanted.first <= 1) {
      ticket.reads[i].length = end;
      continue;
    }
    ticket.reads[i].length = kChunkBytes;
    FieldRead rest = ticket.reads[i];
    rest.begin = begin;
    rest.length = end - begin;
    rest.continues = static_cast<int>(i);
    ticket.reads.push_back(rest);
  }
}

// A long part in several reads, so that a disk has more than one at a time.
void SampleLocator::read_window(Ticket& ticket, std::size_t number) const {
  constexpr std::uint64_t kReadMax = std::uint64_t{4} << 20;
  bool is_first = true;
  for (const FieldPart& part : ticket.windows[number].parts) {
    for (std::uint64_t begin = part.begin; begin < part.end; begin += kReadMax) {
      FieldRead read = ticket.reads[number];
      read.begin = begin;
      read.length = std::min(kReadMax, part.end - begin);
      if (std::exchange(is_first, false)) {
        ticket.reads[number] = read;
      } else {
        read.continues = static_cast<int>(number);
        ticket.reads.push_back(read);
      }
    }
  }
}

void SampleLocator::add_entry_points(Ticket& ticket) const {
  const SampleField& points = ticket.row.entry_points;
  if (points.length == 0 || ticket.bytes + points.length > options_.sample_bytes_max) return;
  const SampleField* const image = ticket.row.image_field();
  for (std::size_t i = 0; i < options_.fields.size(); ++i) {
    if (ticket.reads[i].field != image || !options_.images[i]) continue;
    ticket.entry_points_of = static_cast<int>(i);
    FieldRead& read = ticket.reads.emplace_back();
    read.field = &points;
    read.length = points.length;
    ticket.bytes += EncodedArena::in_units(static_cast<std::size_t>(points.length));
    return;
  }
}

void SampleLocator::read_by_caches(SampleRow& row) const {
  if (options_.disk_cache) {
    for (Source** const source : {&row.source, &row.entry_points_source}) {
      if (*source) *source = &options_.disk_cache->in_front_of(**source);
    }
  }
  if (options_.entry_points && row.entry_points.length > 0) {
    row.entry_points_source = &options_.entry_points->in_front_of(*row.entry_points_source);
  }
}

bool SampleLocator::find_in_cache(Ticket& ticket) const {
  if (!options_.cache || options_.fields.empty()) return false;
  const std::optional<Bytes> kept = options_.cache->find(ticket.sample, bytes_of(ticket.reads));
  if (!kept) return false;
  Bytes rest = *kept;
  for (FieldRead& read : ticket.reads) {
    read.content = rest.first(static_cast<std::size_t>(read.field->length));
    rest = rest.subspan(read.content.size());
  }
  return true;
}

void SampleLocator::keep_in_cache(const Ticket& ticket) const {
  if (!options_.cache || ticket.cached || options_.fields.empty()) return;
  const std::optional<MutableBytes> place = options_.cache->reserve(ticket.sample, bytes_of(ticket.reads));
  if (!place) return;
  auto end = place->begin();
  for (const FieldRead& read : ticket.reads) end = std::copy(read.content.begin(), read.content.end(), end);
  options_.cache->keep(ticket.sample, *place);
}

}  // namespace stoker
