// Entry points as an index keeps them. Two bytes say how many the file has and four how long it is; the rest is packed.
#include <algorithm>

#include "fuzz/fuzz_target.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/jpeg/entry_points.h"

namespace stoker {
namespace {

constexpr std::size_t kKnownBytes = 6;  // of the file
constexpr std::size_t kHashBytes = 4, kFileBytesAt = 4;

bool has_wide_distance(const EntryPoints& points) {
  const auto wide = [](const EntryPoint& a, const EntryPoint& b) { return b.bit - a.bit > UINT32_MAX; };
  return std::adjacent_find(points.begin(), points.end(), wide) != points.end();
}

void run(Bytes input) {
  if (input.size() < kKnownBytes) return;
  const auto count = load_little_endian<std::uint16_t>(input.data());
  const auto file_bytes = load_little_endian<std::uint32_t>(input.data() + 2);
  EntryPoints points;
  const bool good = unpack_entry_points(input.subspan(kKnownBytes), file_bytes, count, points);
  require_that(points.capacity() <= count, "no memory is taken for points that the file has not");
  if (!good) return;
  require_that(points.size() == count && count > 0, "a file has its points, and no others");
  // No segment takes half a gigabyte: what pretends to is not kept.
  if (has_wide_distance(points)) return;
  std::vector<std::uint8_t> packed;
  pack_entry_points(points, file_bytes, packed);
  EntryPoints again;
  require_that(unpack_entry_points(packed, file_bytes, count, again), "points that were packed are unpacked");
  const std::uint64_t first = points.front().bit;  // the writer counts from it
  const auto same = [first](const EntryPoint& a, const EntryPoint& b) {
    return a.bit - first == b.bit && a.dc == b.dc;
  };
  require_that(std::equal(points.begin(), points.end(), again.begin(), again.end(), same),
               "points that were packed come back as they were");
}

void repair(std::vector<std::uint8_t>& input) {
  if (input.size() < kKnownBytes + kFileBytesAt + 4) return;
  std::uint8_t* const packed = input.data() + kKnownBytes;
  std::copy_n(input.data() + 2, 4, packed + kFileBytesAt);
  store_little_endian(packed, static_cast<std::uint32_t>(hash64(Bytes(input).subspan(kKnownBytes + kHashBytes))));
}

const AnnounceFuzzTarget kTarget({.name = "packed_entry_points", .run = run, .repair = repair});

}  // namespace
}  // namespace stoker
