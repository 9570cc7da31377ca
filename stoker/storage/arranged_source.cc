#include "stoker/storage/arranged_source.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

void StretchOrder::reserve(std::size_t stretches) {
  offsets_.reserve(stretches);
  ends_.reserve(stretches);
}

void StretchOrder::add(std::uint64_t offset, std::uint64_t length) {
  assert(length > 0);
  offsets_.push_back(offset);
  ends_.push_back(this->length() + length);
}

StretchOrder::Place StretchOrder::find(std::uint64_t at) const {
  assert(at < length());
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), at);
  Place place = begin_of(static_cast<std::size_t>(end - ends_.begin()));
  const std::uint64_t passed = place.left - (*end - at);
  return {.stretch = place.stretch, .offset = place.offset + passed, .left = place.left - passed};
}

StretchOrder::Place StretchOrder::begin_of(std::size_t stretch) const {
  const std::uint64_t begin = stretch == 0 ? 0 : ends_[stretch - 1];
  return {.stretch = stretch, .offset = offsets_[stretch], .left = ends_[stretch] - begin};
}

/// A read, and those of the object that it became.
struct ArrangedSource::Read {
  struct Part {
    ReadRequest request{};
    std::size_t first_piece = 0, pieces = 0;
    bool is_wanted = false;  // it is more than a hole
  };

  ArrangedSource* source = nullptr;
  ReadRequest* whole = nullptr;
  std::vector<MutableBytes> pieces{};
  std::vector<Part> parts{};
  std::atomic<std::size_t> left{0};  // parts under way, and one until all were started
};

ArrangedSource::ArrangedSource(std::shared_ptr<Source> object, std::shared_ptr<const StretchOrder> order)
    : object_(std::move(object)), order_(std::move(order)) {}

ArrangedSource::~ArrangedSource() = default;

std::uint64_t ArrangedSource::size(std::string_view part) const {
  require_no_part(name(), part);
  return order_->length();
}

std::unique_ptr<Source> ArrangedSource::over(const std::function<Source&(Source& object)>& replace) const {
  return std::make_unique<ArrangedSource>(std::shared_ptr<Source>(std::shared_ptr<Source>(), &replace(*object_)),
                                          order_);
}

void ArrangedSource::start(ReadRequest& request) {
  Read* read = nullptr;
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_range_inside(name(), size(request.part), request.offset, request.length());
    read = &reads_.take();
    divide(request, *read);
  });
  if (request.error) {
    if (read) reads_.give_back(*read);
    return request.done(request);
  }
  read->source = this;
  read->whole = &request;
  read->left.store(read->parts.size() + 1, std::memory_order_relaxed);
  for (Read::Part& part : read->parts) object_->start(part.request);
  part_ended(*read);
}

/// One part for each stretch of which bytes are wanted.
void ArrangedSource::divide(const ReadRequest& request, Read& read) const {
  read.pieces.clear();
  read.parts.clear();
  StretchOrder::Place place{};
  for (MutableBytes piece : request.into) {
    while (!piece.empty()) {
      if (place.left == 0) {
        place = read.parts.empty() ? order_->find(request.offset) : order_->begin_of(place.stretch + 1);
        read.parts.push_back({.first_piece = read.pieces.size()});
        read.parts.back().request.offset = place.offset;
      }
      const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(place.left, piece.size()));
      Read::Part& part = read.parts.back();
      part.is_wanted |= !is_hole(piece);
      ++part.pieces;
      read.pieces.push_back(is_hole(piece) ? hole(taken) : piece.first(taken));
      piece = is_hole(piece) ? hole(piece.size() - taken) : piece.subspan(taken);
      place.left -= taken;
    }
  }
  std::erase_if(read.parts, [](const Read::Part& part) { return !part.is_wanted; });
  for (Read::Part& part : read.parts) {
    part.request.into = Pieces(read.pieces).subspan(part.first_piece, part.pieces);
    part.request.deadline_ns = request.deadline_ns;
    part.request.stop = request.stop;
    part.request.context = &read;
    part.request.done = [](ReadRequest& ended) noexcept { part_ended(*static_cast<Read*>(ended.context)); };
  }
}

void ArrangedSource::part_ended(Read& read) noexcept {
  if (read.left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  ReadRequest& request = *read.whole;
  for (Read::Part& part : read.parts) {
    if (!request.error) request.error = std::move(part.request.error);
  }
  read.parts.clear();  // with what they hold of the caller
  read.source->reads_.give_back(read);
  request.done(request);  // the source may be gone from here on
}

void ArrangedSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  if (!part.empty() || offset >= order_->length()) return;
  length = std::min(length, order_->length() - offset);
  for (StretchOrder::Place place = order_->find(offset); length > 0;) {
    const std::uint64_t taken = std::min(length, place.left);
    object_->will_need(place.offset, taken);
    length -= taken;
    if (length > 0) place = order_->begin_of(place.stretch + 1);
  }
}

}  // namespace stoker
