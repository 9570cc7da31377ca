#include "stoker/format/content_tag.h"

#include <algorithm>
#include <array>
#include <exception>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/pending.h"

namespace stoker {
namespace {

constexpr std::uint64_t kEnd = 4096, kPlace = 512;  // bytes
constexpr std::uint64_t kPlaces = 64;

struct Piece {
  ReadRequest request;
  MutableBytes into;
};

}  // namespace

std::uint64_t content_tag(Source& shard, std::uint64_t data_bytes) {
  std::array<Piece, kPlaces + 2> pieces;
  std::vector<std::uint8_t> bytes(sizeof data_bytes + 2 * kEnd + kPlaces * kPlace);
  store_little_endian(bytes.data(), data_bytes);
  std::size_t end = sizeof data_bytes;
  std::size_t count = 0;
  const auto add = [&](std::uint64_t offset, std::uint64_t wanted) {
    Piece& piece = pieces[count++];
    piece.into = MutableBytes(bytes).subspan(end, std::min(wanted, data_bytes - offset));
    piece.request.offset = offset;
    piece.request.into = Pieces(&piece.into, 1);
    end += piece.into.size();
  };
  add(0, kEnd);
  add(data_bytes - std::min(data_bytes, kEnd), kEnd);
  const std::uint64_t stretch = data_bytes / kPlaces;
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    // Not at equal distances: shards of equal samples would be looked at in the same place of each.
    const std::uint64_t within = stretch * (place * 40503 % 65536) / 65536;
    add((stretch * place + within) / kPlace * kPlace, kPlace);
  }
  {
    Pending reads;
    for (std::size_t i = 0; i < count; ++i) start_pending(shard, pieces[i].request, reads);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].request.error) std::rethrow_exception(pieces[i].request.error);
  }
  return hash64(Bytes(bytes).first(end));
}

}  // namespace stoker
