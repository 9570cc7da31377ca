#include "stoker/storage/recent_source.h"

#include <algorithm>
#include <array>

#include "stoker/base/error.h"

namespace stoker {

struct RecentSource::FirstRead {
  RecentSource* source;
  ReadRequest* outer;
  Block block{};
  std::array<MutableBytes, 1> piece{};
  ReadRequest inner{};
};

void RecentSource::start(ReadRequest& request) {
  if (!request.part.empty()) return object_->start(request);
  if (copy_kept(request)) {
    request.error = nullptr;
    return request.done(request);
  }
  is_first(request) ? read_first(request) : object_->start(request);
}

/// False where some of the bytes are not kept.
bool RecentSource::copy_kept(const ReadRequest& request) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = request.offset + request.length();
  // By their beginnings; one may lie within another that was read later.
  const auto for_each_part = [&](const auto& take) {
    std::uint64_t at = request.offset;
    for (const Block& block : kept_) {
      if (at == end || block.begin > at) break;
      if (block.end() <= at) continue;
      const std::uint64_t to = std::min(end, block.end());
      take(Bytes(block.bytes).subspan(static_cast<std::size_t>(at - block.begin), static_cast<std::size_t>(to - at)));
      at = to;
    }
    return at == end;
  };
  if (!for_each_part([](Bytes /*part*/) {})) return false;
  PieceCursor into(request.into);
  return for_each_part([&](Bytes part) { into.copy_from(part); });
}

bool RecentSource::is_first(const ReadRequest& request) {
  if (request.into.size() != 1 || is_hole(request.into.front()) || request.length() > kept_bytes_max_) return false;
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = request.offset + request.length();
  if (end <= reached_) return false;
  reached_ = end;
  return true;
}

void RecentSource::read_first(ReadRequest& request) {
  std::unique_ptr<FirstRead> read;
  request.error = thrown_by([&] {
    require_range_inside(name(), size(), request.offset, request.length());  // before memory is taken for it
    read = std::make_unique<FirstRead>(FirstRead{.source = this, .outer = &request});
    read->block.begin = request.offset;
    read->block.bytes.resize(static_cast<std::size_t>(request.length()));
  });
  if (request.error) return request.done(request);
  read->piece = {MutableBytes(read->block.bytes)};
  read->inner.offset = request.offset;
  read->inner.into = read->piece;
  read->inner.deadline_ns = request.deadline_ns;
  read->inner.stop = request.stop;
  read->inner.context = read.get();
  read->inner.done = &first_read_ended;
  object_->start(read.release()->inner);
}

void RecentSource::first_read_ended(ReadRequest& inner) noexcept {
  const std::unique_ptr<FirstRead> read(static_cast<FirstRead*>(inner.context));
  ReadRequest& request = *read->outer;
  request.error = std::exchange(inner.error, nullptr);
  if (!request.error) {
    request.error = thrown_by([&] {
      PieceCursor(request.into).copy_from(read->block.bytes);
      read->source->keep(std::move(read->block));
    });
  }
  request.done(request);  // the source may be gone from here on
}

void RecentSource::keep(Block block) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ += block.bytes.size();
  const auto after =
      std::find_if(kept_.rbegin(), kept_.rend(), [&](const Block& one) { return one.begin < block.begin; });
  kept_.insert(after.base(), std::move(block));
  while (kept_bytes_ > kept_bytes_max_) {
    kept_bytes_ -= kept_.front().bytes.size();
    kept_.pop_front();
  }
}

}  // namespace stoker
