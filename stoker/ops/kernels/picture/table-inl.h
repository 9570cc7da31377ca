// Steps that treat each byte by itself, and sums of bytes.
#if defined(STOKER_OPS_KERNELS_PICTURE_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_TABLE_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_TABLE_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_TABLE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "stoker/ops/picture/picture_pass.h"
#include "stoker/ops/picture/table_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ByteTag = hn::ScalableTag<std::uint8_t>;
using ByteVector = hn::Vec<ByteTag>;

/// `map` turns a vector of bytes into a vector, `map_one` one byte into one.
template <class Map, class MapOne>
HWY_INLINE void map_bytes(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const Map& map,
                          const MapOne& map_one) {
  const ByteTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto first = map(hn::LoadU(d, in + i)), second = map(hn::LoadU(d, in + i + lanes));
    hn::StoreU(first, d, out + i);
    hn::StoreU(second, d, out + i + lanes);
  }
  for (; i < count; ++i) out[i] = map_one(in[i]);
}

template <class Map, class MapOne>
HWY_INLINE void map_picture(const PicturePass& pass, const Map& map, const MapOne& map_one) {
  map_bytes(pass.in, pass.out, static_cast<std::size_t>(3 * pass.pixels()), map, map_one);
}

void invert_picture(const PicturePass& pass) {
  map_picture(
      pass, [](ByteVector v) HWY_ATTR { return hn::Not(v); },
      [](std::uint8_t v) { return static_cast<std::uint8_t>(~v); });
}

void posterize_picture(const PicturePass& pass) {
  const auto mask = static_cast<std::uint8_t>(pass.steps->n[0]);
  const auto masks = hn::Set(ByteTag(), mask);
  map_picture(
      pass, [masks](ByteVector v) HWY_ATTR { return hn::And(v, masks); },
      [mask](std::uint8_t v) { return static_cast<std::uint8_t>(v & mask); });
}

void solarize_picture(const PicturePass& pass) {
  const int threshold = pass.steps->n[0];
  if (threshold > 255) {
    return map_picture(
        pass, [](ByteVector v) HWY_ATTR { return v; }, [](std::uint8_t v) { return v; });
  }
  const auto from = hn::Set(ByteTag(), static_cast<std::uint8_t>(threshold));
  map_picture(
      pass,
      // No instruction set before AVX-512 compares bytes without a sign.
      [from](ByteVector v) HWY_ATTR { return hn::IfThenElse(hn::Eq(hn::Max(v, from), v), hn::Not(v), v); },
      [threshold](std::uint8_t v) { return static_cast<std::uint8_t>(v >= threshold ? ~v : v); });
}

void solarize_add_picture(const PicturePass& pass) {
  const int addition = pass.steps->n[0];
  const ByteTag d;
  const auto last = hn::Set(d, std::uint8_t{kSolarizeAddBelow - 1}),
             more = hn::Set(d, static_cast<std::uint8_t>(addition));
  map_picture(
      pass,
      [=](ByteVector v) HWY_ATTR { return hn::IfThenElse(hn::Eq(hn::Min(v, last), v), hn::SaturatedAdd(v, more), v); },
      [addition](std::uint8_t v) { return solarize_added(v, addition); });
}

// Sixteen tables of sixteen bytes each, which the upper half of a byte chooses from.
HWY_INLINE ByteVector look_up(const std::uint8_t* table, ByteVector v) {
  const ByteTag d;
  const auto low = hn::And(v, hn::Set(d, std::uint8_t{15}));
  const auto row = [&](int i) HWY_ATTR { return hn::TableLookupBytes(hn::LoadDup128(d, table + 16 * i), low); };
  const auto bit4 = hn::TestBit(v, hn::Set(d, std::uint8_t{16})), bit5 = hn::TestBit(v, hn::Set(d, std::uint8_t{32}));
  const auto bit6 = hn::TestBit(v, hn::Set(d, std::uint8_t{64})), bit7 = hn::TestBit(v, hn::Set(d, std::uint8_t{128}));
  const auto four = [&](int i) HWY_ATTR {
    return hn::IfThenElse(bit5, hn::IfThenElse(bit4, row(i + 3), row(i + 2)), hn::IfThenElse(bit4, row(i + 1), row(i)));
  };
  return hn::IfThenElse(bit7, hn::IfThenElse(bit6, four(12), four(8)), hn::IfThenElse(bit6, four(4), four(0)));
}

void look_up_picture(const PicturePass& pass) {
  const auto pixels = static_cast<std::size_t>(pass.pixels());
  for (std::size_t c = 0; c < 3; ++c) {
    const std::uint8_t* const table = pass.facts->table[c];
    map_bytes(
        pass.in + c * pixels, pass.out + c * pixels, pixels,
        [table](ByteVector v) HWY_ATTR { return look_up(table, v); }, [table](std::uint8_t v) { return table[v]; });
  }
}

void permute_picture(const PicturePass& pass) {
  const ByteTag d;
  const auto pixels = static_cast<std::size_t>(pass.pixels()), lanes = hn::Lanes(d);
  const std::uint8_t* in[3];
  for (int c = 0; c < 3; ++c) in[c] = pass.in + static_cast<std::size_t>(pass.steps->n[c]) * pixels;
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    const auto r = hn::LoadU(d, in[0] + i), g = hn::LoadU(d, in[1] + i), b = hn::LoadU(d, in[2] + i);
    hn::StoreU(r, d, pass.out + i);
    hn::StoreU(g, d, pass.out + pixels + i);
    hn::StoreU(b, d, pass.out + 2 * pixels + i);
  }
  for (; i < pixels; ++i) {
    const std::uint8_t rgb[3] = {in[0][i], in[1][i], in[2][i]};
    for (std::size_t c = 0; c < 3; ++c) pass.out[c * pixels + i] = rgb[c];
  }
}

std::uint64_t sum_of_plane(const std::uint8_t* plane, std::ptrdiff_t pixels) {
  const ByteTag d;
  const hn::Repartition<std::uint64_t, ByteTag> d64;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto sums = hn::Zero(d64);
  std::ptrdiff_t i = 0;
  for (; i + lanes <= pixels; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d, plane + i)));
  std::uint64_t total = hn::GetLane(hn::SumOfLanes(d64, sums));
  for (; i < pixels; ++i) total += plane[i];
  return total;
}

std::pair<std::uint8_t, std::uint8_t> extremes_of_plane(const std::uint8_t* plane, std::ptrdiff_t pixels) {
  const ByteTag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::uint8_t least = 255, most = 0;
  std::ptrdiff_t i = 0;
  if (pixels >= lanes) {
    auto low = hn::LoadU(d, plane), high = low;
    for (; i + lanes <= pixels; i += lanes) {
      const auto values = hn::LoadU(d, plane + i);
      low = hn::Min(low, values);
      high = hn::Max(high, values);
    }
    std::uint8_t lows[hn::MaxLanes(ByteTag())], highs[hn::MaxLanes(ByteTag())];
    hn::StoreU(low, d, lows);
    hn::StoreU(high, d, highs);
    least = *std::min_element(lows, lows + lanes);
    most = *std::max_element(highs, highs + lanes);
  }
  for (; i < pixels; ++i) {
    least = std::min(least, plane[i]);
    most = std::max(most, plane[i]);
  }
  return {least, most};
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
