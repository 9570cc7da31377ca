#include "stoker/codec/jpeg/entry_points.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

// u32 hash of what follows, u32 bytes of the file, u32 points, u32 least distance, i16 least DC of each component, u8
// bits of a distance, u8 bits of each DC; then the points, bit by bit, and zeros up to kSlack.
constexpr std::size_t kHeadBytes = 4 * 4 + 3 * 2 + 4;
constexpr std::size_t kSlack = 8;  // a point is read by loads of 64 bits
constexpr int kDistanceBitsMax = 32, kDcBitsMax = 16;

// How a column of numbers is stored: as what is above the least of them, in as many bits as the largest needs.
struct PackedColumn {
  std::int64_t least = 0;
  int bits = 0;

  void fit(std::int64_t low, std::int64_t high) {
    least = low;
    bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(high - low)));
  }
};

struct PackedColumns {
  PackedColumn distance;
  std::array<PackedColumn, 3> dc;

  std::size_t bits() const { return static_cast<std::size_t>(distance.bits + dc[0].bits + dc[1].bits + dc[2].bits); }
};

PackedColumns columns_of(const EntryPoints& points) {
  PackedColumns columns;
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto distance = static_cast<std::int64_t>(points[i].bit - points[i - 1].bit);
    low = std::min(low, distance);
    high = std::max(high, distance);
  }
  if (points.size() > 1) columns.distance.fit(low, high);
  for (std::size_t c = 0; c < columns.dc.size(); ++c) {
    const auto [least, most] = std::minmax_element(
        points.begin(), points.end(), [&](const EntryPoint& a, const EntryPoint& b) { return a.dc[c] < b.dc[c]; });
    columns.dc[c].fit(least->dc[c], most->dc[c]);
  }
  return columns;
}

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& into) : into_(into) {}

  void put(std::int64_t value, const PackedColumn& column) {
    bits_ |= static_cast<std::uint64_t>(value - column.least) << count_;
    for (count_ += column.bits; count_ >= 8; count_ -= 8, bits_ >>= 8)
      into_.push_back(static_cast<std::uint8_t>(bits_));
  }
  void finish() {
    if (count_ > 0) into_.push_back(static_cast<std::uint8_t>(bits_));
  }

 private:
  std::vector<std::uint8_t>& into_;
  std::uint64_t bits_ = 0;
  int count_ = 0;
};

std::uint64_t low_bits(std::uint64_t value, int bits) { return value & ((std::uint64_t{1} << bits) - 1); }

}  // namespace

std::size_t entry_point_count(const JpegHeader& header) {
  const McuGrid grid(header);
  return SegmentGrid(grid, header.restart_interval).count(grid.down);
}

void pack_entry_points(const EntryPoints& points, std::size_t encoded_bytes, std::vector<std::uint8_t>& into) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const PackedColumns columns = columns_of(points);
  if (encoded_bytes > kMost || points.size() > kMost || columns.distance.bits > kDistanceBitsMax) return;
  const std::size_t begin = into.size();
  append_little_endian(into, std::uint32_t{0});  // the hash, at last
  append_little_endian(into, static_cast<std::uint32_t>(encoded_bytes));
  append_little_endian(into, static_cast<std::uint32_t>(points.size()));
  append_little_endian(into, static_cast<std::uint32_t>(columns.distance.least));
  for (const PackedColumn& dc : columns.dc) {
    append_little_endian(into, static_cast<std::uint16_t>(static_cast<std::int16_t>(dc.least)));
  }
  into.push_back(static_cast<std::uint8_t>(columns.distance.bits));
  for (const PackedColumn& dc : columns.dc) into.push_back(static_cast<std::uint8_t>(dc.bits));
  BitWriter writer(into);
  std::uint64_t before = points.front().bit - static_cast<std::uint64_t>(columns.distance.least);
  for (const EntryPoint& point : points) {
    writer.put(static_cast<std::int64_t>(point.bit - before), columns.distance);
    for (std::size_t c = 0; c < columns.dc.size(); ++c) writer.put(point.dc[c], columns.dc[c]);
    before = point.bit;
  }
  writer.finish();
  into.insert(into.end(), kSlack, 0);
  const auto hash = static_cast<std::uint32_t>(hash64(Bytes(into).subspan(begin + 4)));
  for (int i = 0; i < 4; ++i) into[begin + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(hash >> 8 * i);
}

bool unpack_entry_points(Bytes packed, std::size_t encoded_bytes, std::size_t count, EntryPoints& points) {
  points.clear();
  if (packed.size() < kHeadBytes + kSlack) return false;
  const std::uint8_t* at = packed.data();
  if (load_little_endian<std::uint32_t>(at) != static_cast<std::uint32_t>(hash64(packed.subspan(4)))) return false;
  if (load_little_endian<std::uint32_t>(at + 4) != encoded_bytes) return false;
  // Columns of 0 bits have room for any number of points.
  if (count == 0 || load_little_endian<std::uint32_t>(at + 8) != count) return false;
  PackedColumns columns;
  columns.distance.least = load_little_endian<std::uint32_t>(at + 12);
  columns.distance.bits = at[22];
  bool good = columns.distance.bits <= kDistanceBitsMax;
  for (std::size_t c = 0; c < columns.dc.size(); ++c) {
    columns.dc[c].least = static_cast<std::int16_t>(load_little_endian<std::uint16_t>(at + 16 + 2 * c));
    columns.dc[c].bits = at[23 + c];
    good = good && columns.dc[c].bits <= kDcBitsMax;
  }
  if (!good || packed.size() != kHeadBytes + (count * columns.bits() + 7) / 8 + kSlack) return false;
  const std::uint8_t* const data = at + kHeadBytes;
  std::uint64_t bit = 0 - static_cast<std::uint64_t>(columns.distance.least);
  points.resize(count);
  std::size_t from = 0;
  const auto load = [&] {
    std::uint64_t word;
    std::memcpy(&word, data + from / 8, sizeof(word));
    return word >> from % 8;
  };
  for (EntryPoint& point : points) {
    bit += low_bits(load(), columns.distance.bits) + static_cast<std::uint64_t>(columns.distance.least);
    point.bit = bit;
    from += static_cast<std::size_t>(columns.distance.bits);
    std::uint64_t word = load();
    for (std::size_t c = 0; c < columns.dc.size(); ++c) {
      point.dc[c] = static_cast<std::int16_t>(columns.dc[c].least +
                                              static_cast<std::int64_t>(low_bits(word, columns.dc[c].bits)));
      word >>= columns.dc[c].bits;
      from += static_cast<std::size_t>(columns.dc[c].bits);
    }
  }
  return true;
}

}  // namespace stoker
