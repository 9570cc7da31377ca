#include "stoker/storage/cache/cached_source.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {
namespace {

/// Whether the error says that the read is no longer wanted, rather than that the file is broken.
bool is_unwanted(const std::exception_ptr& exception, const ReadRequest& request) {
  return exception && (request.stop.stop_requested() || now_ns() > request.deadline_ns);
}

}  // namespace

// --- What a read is made of

void CachedRead::begin_span(std::uint64_t begin) {
  spans.push_back({.begin = begin, .end = begin, .first = pieces.size(), .count = 0});
}

// Up to the end of the chunk in which the last piece ended, at `at`.
void CachedRead::end_span(std::uint64_t at) {
  if (spans.empty()) return;
  add_margin(spans.back().end - at);
  spans.back().count = pieces.size() - spans.back().first;
}

void CachedRead::add_margin(std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto count = static_cast<std::size_t>(bytes);
  pieces.push_back(MutableBytes(margins).subspan(margins_used, count));
  margins_used += count;
}

void CachedRead::gather(From wanted, bool whole_chunks, std::uint64_t object_bytes) {
  pieces.clear();
  spans.clear();
  const std::uint64_t unit = whole_chunks ? CachedObject::kChunkBytes : 1;
  const auto count = static_cast<std::size_t>(std::count(from.begin(), from.end(), wanted));
  // A chunk begins and a chunk ends around each piece.
  const std::size_t most = 2 * CachedObject::kChunkBytes * count + kDirectUnit;
  if (whole_chunks && margins.size() < most) margins.resize(most);
  margins_used = kDirectUnit - reinterpret_cast<std::uintptr_t>(margins.data()) % kDirectUnit;
  std::uint64_t at = request->offset, gathered = 0;  // up to where
  for (std::size_t i = 0; i < from.size(); ++i) {
    const MutableBytes piece = request->into[i];
    const std::uint64_t begin = at, end = at + piece.size();
    at = end;
    if (from[i] != wanted) continue;
    if (spans.empty() || begin > spans.back().end) {
      end_span(gathered);
      const std::uint64_t span_begin = begin / unit * unit;
      if (!spans.empty() && span_begin > spans.back().end) {
        pieces.push_back(hole(static_cast<std::size_t>(span_begin - spans.back().end)));
      }
      begin_span(span_begin);
      gathered = span_begin;
    }
    add_margin(begin - gathered);
    pieces.push_back(piece);
    gathered = end;
    spans.back().end = std::min((end + unit - 1) / unit * unit, object_bytes);
  }
  end_span(gathered);
}

// --- The source

bool CachedSource::serves(const ReadRequest& request) const {
  return cache_.home_.here() && request.part.empty() && object_->is_open() && request.length() > 0;
}

void CachedSource::start(ReadRequest& request) {
  if (!serves(request)) return store_.start(request);
  request.error = nullptr;
  request.source = this;
  CachedRead* read = nullptr;
  try {
    require_wanted(name(), request);
    require_range_inside(name(), object_->bytes(), request.offset, request.length());
    read = cache_.take_read();
    read->source = this;
    read->request = &request;
    plan(*read);
  } catch (...) {
    if (read) cache_.give_back(read);
    request.error = std::current_exception();
    return request.done(request);
  }
  go_on(*read, CachedRead::From::kDisk);
}

// With what is read first, or, if nothing is from there, with what comes after it. Holes alone need neither.
void CachedSource::go_on(CachedRead& read, CachedRead::From first) {
  const auto any = [&](CachedRead::From wanted) {
    return std::find(read.from.begin(), read.from.end(), wanted) != read.from.end();
  };
  if (first == CachedRead::From::kDisk && any(CachedRead::From::kDisk)) {
    read_disk(read);
  } else if (any(CachedRead::From::kStore)) {
    read_store(read);
  } else {
    finish(read, nullptr);
  }
}

void CachedSource::plan(CachedRead& read) {
  const ReadRequest& request = *read.request;
  const std::uint32_t now = cache_.folder_->now();
  read.from.assign(request.into.size(), CachedRead::From::kNowhere);
  std::uint64_t at = request.offset;
  for (std::size_t i = 0; i < request.into.size(); ++i) {
    const std::uint64_t begin = at;
    at += request.into[i].size();
    if (request.into[i].empty() || is_hole(request.into[i])) continue;
    read.from[i] = object_->has(begin, at, now) ? CachedRead::From::kDisk : CachedRead::From::kStore;
  }
}

void CachedSource::read_disk(CachedRead& read) {
  FileSource* data = nullptr;
  try {
    data = &object_->data();
    read.gather(CachedRead::From::kDisk, true, object_->bytes());
  } catch (...) {
    // Its file cannot be opened, or there is no memory for margins: the store has the bytes, too.
    std::replace(read.from.begin(), read.from.end(), CachedRead::From::kDisk, CachedRead::From::kStore);
    return read_store(read);
  }
  ReadRequest& inner = read.inner;
  inner.part = {};
  inner.offset = object_->data_begin() + read.spans.front().begin;
  inner.into = read.pieces;
  inner.deadline_ns = read.request->deadline_ns;
  inner.stop = read.request->stop;
  inner.context = &read;
  inner.done = &disk_ended;
  data->start(inner);
}

void CachedSource::disk_ended(ReadRequest& inner) noexcept {
  auto& read = *static_cast<CachedRead*>(inner.context);
  CachedSource& source = *read.source;
  if (is_unwanted(inner.error, *read.request)) return source.finish(read, inner.error);
  if (inner.error) {
    source.object_->give_up();  // a file that cannot be read is of no use to anyone
    std::replace(read.from.begin(), read.from.end(), CachedRead::From::kDisk, CachedRead::From::kStore);
  } else {
    source.take_from_disk(read);
  }
  source.go_on(read, CachedRead::From::kStore);
}

// Pieces with a chunk that is not what was written are to come from the store.
void CachedSource::take_from_disk(CachedRead& read) {
  for (const CachedRead::Span& span : read.spans) {
    read.for_each_chunk(span, [&](std::uint64_t chunk, Bytes bytes) {
      const CachedObject::Check check = object_->check(chunk, bytes);
      if (check == CachedObject::Check::kGood) return;
      if (check == CachedObject::Check::kDamaged) cache_.count_damage();
      std::uint64_t at = read.request->offset;
      for (std::size_t i = 0; i < read.from.size(); ++i) {
        const std::uint64_t begin = at;
        at += read.request->into[i].size();
        const bool touches = begin < (chunk + 1) * CachedObject::kChunkBytes && at > chunk * CachedObject::kChunkBytes;
        if (touches && read.from[i] == CachedRead::From::kDisk) read.from[i] = CachedRead::From::kStore;
      }
    });
  }
}

void CachedSource::read_store(CachedRead& read) {
  read.keeps = cache_.admits();
  if (std::exception_ptr error =
          thrown_by([&] { read.gather(CachedRead::From::kStore, read.keeps, object_->bytes()); })) {
    return finish(read, std::move(error));
  }
  ReadRequest& inner = read.inner;
  inner.part = {};
  inner.offset = read.spans.front().begin;
  inner.into = read.pieces;
  inner.deadline_ns = read.request->deadline_ns;
  inner.stop = read.request->stop;
  inner.context = &read;
  inner.done = &store_ended;
  store_.start(inner);
}

void CachedSource::store_ended(ReadRequest& inner) noexcept {
  auto& read = *static_cast<CachedRead*>(inner.context);
  if (!inner.error && read.keeps) read.source->keep_spans(read);
  read.source->finish(read, inner.error);
}

void CachedSource::keep_spans(CachedRead& read) noexcept {
  for (const CachedRead::Span& span : read.spans) {
    cache_.keep(*object_, span.begin / CachedObject::kChunkBytes, Pieces(read.pieces).subspan(span.first, span.count),
                span.end - span.begin);
  }
}

void CachedSource::finish(CachedRead& read, std::exception_ptr error) noexcept {
  ReadRequest& request = *read.request;
  if (!error) {
    for (std::size_t i = 0; i < read.from.size(); ++i) {
      if (read.from[i] == CachedRead::From::kNowhere) continue;
      const bool is_hit = read.from[i] == CachedRead::From::kDisk;
      (is_hit ? cache_.hits_ : cache_.misses_).fetch_add(1, std::memory_order_relaxed);
      (is_hit ? cache_.bytes_from_disk_ : cache_.bytes_from_store_)
          .fetch_add(request.into[i].size(), std::memory_order_relaxed);
    }
  }
  read.inner.error = nullptr;
  read.inner.stop = {};
  cache_.give_back(&read);
  request.error = std::move(error);
  request.done(request);  // this source may be gone from here on
}

void CachedSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  // The disk needs no such hint.
  const bool is_there =
      part.empty() && offset < object_->bytes() && object_->has_chunk(offset / CachedObject::kChunkBytes);
  if (!is_there) store_.will_need(offset, length, part);
}

}  // namespace stoker
