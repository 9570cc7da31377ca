#include "stoker/storage/block_source.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

/// A source that is the caller's.
std::shared_ptr<Source> unowned(Source& source) { return {std::shared_ptr<Source>(), &source}; }

bool wants_nothing(const ReadRequest& request) {
  return std::all_of(request.into.begin(), request.into.end(),
                     [](MutableBytes piece) { return piece.empty() || is_hole(piece); });
}

}  // namespace

/// A read of what follows the heads of rows.
struct BlockSource::RowsRead {
  BlockSource* source = nullptr;
  ReadRequest* request = nullptr;
  ReadRequest inner{};
  std::vector<MutableBytes> pieces{};

  void add(MutableBytes piece) {
    if (!pieces.empty() && is_hole(piece) && is_hole(pieces.back())) {
      pieces.back() = hole(pieces.back().size() + piece.size());
    } else {
      pieces.push_back(piece);
    }
  }
};

BlockSource::BlockSource(std::shared_ptr<Source> object, std::shared_ptr<const BlockTable> blocks,
                         std::shared_ptr<BlockCache> cache)
    : object_(std::move(object)), blocks_(std::move(blocks)), cache_(std::move(cache)), number_(cache_->add_object()) {}

BlockSource::~BlockSource() { cache_->forget_object(number_); }

void BlockSource::start(ReadRequest& request) {
  if (!blocks_->is_beyond(request.offset)) return object_->start(request);
  std::optional<BlockPlace> place;
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_no_part(name(), request.part);
    place = blocks_->find(request.offset);
    if (!place) {
      fail(ErrorKind::kData, "'{}' has {}, and no block at {}", name(), byte_count(size()), request.offset);
    }
    require_range_inside(name(), place->length, place->offset, request.length());
    if (wants_nothing(request)) place.reset();
  });
  if (request.error || !place) return request.done(request);
  place->rows ? read_rows(*place, request) : cache_->read(*object_, number_, *place, request);
}

// Fills the heads at once; what lies between them is one range.
void BlockSource::read_rows(const BlockPlace& place, ReadRequest& request) {
  RowsRead* read = nullptr;
  request.error = thrown_by([&] {
    const HeadedRows& rows = *place.rows;
    read = &reads_.take();
    read->pieces.clear();
    std::uint64_t row = place.offset / rows.row_bytes(), at = place.offset % rows.row_bytes();
    read->inner.offset = rows.offset + row * rows.length + (at - std::min<std::uint64_t>(at, rows.head.size()));
    for (MutableBytes piece : request.into) {
      while (!piece.empty()) {
        const bool in_head = at < rows.head.size();
        const std::uint64_t left = (in_head ? rows.head.size() : rows.row_bytes()) - at;
        const MutableBytes part = piece.first(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
        if (!in_head) read->add(part);
        if (in_head && part.data())
          std::copy_n(rows.head.begin() + static_cast<std::ptrdiff_t>(at), part.size(), part.begin());
        piece = part.data() ? piece.subspan(part.size()) : hole(piece.size() - part.size());
        at += part.size();
        if (at == rows.row_bytes()) at = 0, ++row;
      }
    }
    read->inner.into = read->pieces;
  });
  if (!read) return request.done(request);
  read->source = this;
  read->request = &request;
  read->inner.deadline_ns = request.deadline_ns;
  read->inner.stop = request.stop;
  read->inner.context = read;
  read->inner.done = &rows_ended;
  read->inner.error = request.error;
  if (request.error || wants_nothing(read->inner)) return rows_ended(read->inner);
  start(read->inner);
}

void BlockSource::rows_ended(ReadRequest& inner) noexcept {
  auto* const read = static_cast<RowsRead*>(inner.context);
  ReadRequest& request = *read->request;
  request.error = std::exchange(inner.error, nullptr);
  inner.stop = {};
  read->source->reads_.give_back(*read);
  request.done(request);  // the source may be gone from here on
}

std::unique_ptr<Source> BlockSource::over(const std::function<Source&(Source& object)>& replace) const {
  return std::make_unique<BlockSource>(unowned(replace(*object_)), blocks_, cache_);
}

void BlockSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  if (!blocks_->is_beyond(offset)) return object_->will_need(offset, length, part);
  const std::optional<BlockPlace> place = blocks_->find(offset);
  if (!place || length == 0) return;
  if (const HeadedRows* const rows = place->rows) {
    if (rows->length == 0) return;
    const std::uint64_t first = place->offset / rows->row_bytes();
    const std::uint64_t last = (std::min(length, place->length - place->offset) + place->offset) / rows->row_bytes();
    const std::uint64_t count = std::min(last + 1, rows->count) - std::min(first, rows->count);
    return will_need(rows->offset + first * rows->length, count * rows->length, part);
  }
  if (cache_->holds(number_, place->number)) return;
  object_->will_need(place->block.offset, place->block.stored_length, part);
  if (!place->has_dictionary() || cache_->holds(number_, place->packed->dictionary)) return;
  object_->will_need(place->dictionary.offset, place->dictionary.stored_length, part);
}

bool BlockSource::has_cheap_parts(std::uint64_t offset) const {
  if (!blocks_->is_beyond(offset)) return object_->has_cheap_parts(offset);
  const std::optional<BlockPlace> place = blocks_->find(offset);
  return place && place->rows && has_cheap_parts(place->rows->offset);
}

BlockPlaces::BlockPlaces(Source& object, std::uint64_t kept_bytes_max)
    : blocks_(std::make_shared<BlockTable>(object.size())),
      source_(unowned(object), blocks_, std::make_shared<BlockCache>(kept_bytes_max)) {}

template <typename Add>
auto BlockPlaces::add_named(std::uint64_t offset, const Add& add) {
  try {
    return add();
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("'{}': the block at byte {} cannot be read: {}", name(), offset, error.message()));
  }
}

std::uint64_t BlockPlaces::add(const CompressedBlock& block) {
  return add_named(block.offset, [&] { return blocks_->add(block); });
}

std::size_t BlockPlaces::add_numbered(const CompressedBlock& block) {
  return add_named(block.offset, [&] { return blocks_->add_numbered(block); });
}

std::uint64_t BlockPlaces::add(const PackedValues& packed) {
  return add_named(packed.block.offset, [&] { return blocks_->add(packed); });
}

std::uint64_t BlockPlaces::add(HeadedRows rows) {
  return add_named(rows.offset, [&] { return blocks_->add(std::move(rows)); });
}

std::shared_ptr<const BlockTable> BlockPlaces::take() {
  blocks_->close();
  return blocks_->empty() ? nullptr : blocks_;
}

}  // namespace stoker
