#include "stoker/storage/block_source.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// What a scan keeps of blocks that it gave out: readers of its rows follow closely.
constexpr std::uint64_t kScannedBytesMax = std::uint64_t{64} << 20;

bool wants_nothing(const ReadRequest& request) {
  return std::all_of(request.into.begin(), request.into.end(), [](MutableBytes piece) { return !piece.data(); });
}

}  // namespace

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
    require_range_inside(name(), place->block.length, place->offset, request.length());
    if (wants_nothing(request)) place.reset();
  });
  if (request.error || !place) return request.done(request);
  cache_->read(*object_, number_, *place, request);
}

void BlockSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  if (!blocks_->is_beyond(offset)) return object_->will_need(offset, length, part);
  const std::optional<BlockPlace> place = blocks_->find(offset);
  if (!place || length == 0 || cache_->holds(number_, place->number)) return;
  object_->will_need(place->block.offset, place->block.stored_length, part);
}

BlockPlaces::BlockPlaces(Source& object)
    : blocks_(std::make_shared<BlockTable>(object.size())),
      source_(std::shared_ptr<Source>(std::shared_ptr<Source>(), &object), blocks_,
              std::make_shared<BlockCache>(kScannedBytesMax)) {}

std::uint64_t BlockPlaces::add(const CompressedBlock& block) {
  try {
    return blocks_->add(block);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': the block at byte {} cannot be read: {}", source_.name(), block.offset,
                                          error.message()));
  }
}

std::shared_ptr<const BlockTable> BlockPlaces::take() {
  blocks_->close();
  return blocks_->empty() ? nullptr : blocks_;
}

}  // namespace stoker
