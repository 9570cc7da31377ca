// The horizontal pass of one row: each output is a weighted sum of neighbouring bytes.
#if defined(STOKER_OPS_KERNELS_RESAMPLE_HORIZONTAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_RESAMPLE_HORIZONTAL_INL_H_
#undef STOKER_OPS_KERNELS_RESAMPLE_HORIZONTAL_INL_H_
#else
#define STOKER_OPS_KERNELS_RESAMPLE_HORIZONTAL_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/kernels/resample/dot-inl.h"
#include "stoker/ops/kernels/resample/horizontal_tables.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One vector is one to four 128-bit blocks that start at columns of their own.
#if HWY_TARGET == HWY_AVX3
using BlockTag = hn::FixedTag<std::uint8_t, 64>;
HWY_INLINE hn::Vec<BlockTag> load_blocks(const std::uint8_t* row, const std::int32_t* base) {
  const auto load = [row, base](int block)
                        HWY_ATTR { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[block])); };
  __m512i all = _mm512_castsi128_si512(load(0));
  all = _mm512_inserti32x4(all, load(1), 1);
  all = _mm512_inserti32x4(all, load(2), 2);
  return hn::Vec<BlockTag>{_mm512_inserti32x4(all, load(3), 3)};
}
#elif HWY_TARGET == HWY_AVX2
using BlockTag = hn::FixedTag<std::uint8_t, 32>;
HWY_INLINE hn::Vec<BlockTag> load_blocks(const std::uint8_t* row, const std::int32_t* base) {
  const hn::FixedTag<std::uint8_t, 16> block;
  return hn::Combine(BlockTag(), hn::LoadU(block, row + base[1]), hn::LoadU(block, row + base[0]));
}
#else
using BlockTag = hn::FixedTag<std::uint8_t, 16>;
HWY_INLINE hn::Vec<BlockTag> load_blocks(const std::uint8_t* row, const std::int32_t* base) {
  return hn::LoadU(BlockTag(), row + base[0]);
}
#endif
constexpr std::size_t kBlockLanes = hn::MaxLanes(hn::Repartition<std::int32_t, BlockTag>());

using WordTag = hn::Repartition<std::int16_t, BlockTag>;
using SumTag = hn::Repartition<std::int32_t, BlockTag>;
constexpr std::size_t kVectorBytes = hn::MaxLanes(BlockTag());

// What one vector of a NarrowTable needs; the next one's follows it in memory.
struct NarrowCursor {
  const std::int32_t* base;
  const std::uint8_t* shuffles;
  const std::int16_t* weights;
  std::size_t pairs;

  HWY_INLINE void advance() {
    base += kVectorBytes / 16;
    shuffles += 2 * kVectorBytes;
    weights += pairs * kVectorBytes;
  }
};

// The outputs of one vector, in each channel.
template <std::size_t kChannels>
HWY_INLINE void narrow_vector(const NarrowCursor& at, std::size_t pairs, const std::uint8_t* HWY_RESTRICT row,
                              std::size_t stride, hn::Vec<SumTag>* HWY_RESTRICT results) {
  const WordTag d16;
  constexpr std::size_t kWords = kVectorBytes / 2;
  const auto even = hn::LoadU(BlockTag(), at.shuffles), odd = hn::LoadU(BlockTag(), at.shuffles + kVectorBytes);
  for (std::size_t c = 0; c < kChannels; ++c, row += stride) {
    WeightedSum<SumTag> sum;
    const std::int16_t* weights = at.weights;
    for (std::size_t p = 0; p < pairs; p += 2, weights += 4 * kWords) {
      const auto bytes = load_blocks(row + 2 * p, at.base);
      sum.add(hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, even)), hn::LoadU(d16, weights),
              hn::LoadU(d16, weights + kWords));
      if (p + 1 < pairs) {
        sum.add(hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, odd)), hn::LoadU(d16, weights + 2 * kWords),
                hn::LoadU(d16, weights + 3 * kWords));
      }
    }
    results[c] = sum.result();
  }
}

// kPairs: the pairs of taps, if known when compiling; else 0.
template <std::size_t kPairs, std::size_t kChannels>
HWY_INLINE void narrow_row(const NarrowTable& table, const std::uint8_t* HWY_RESTRICT row, std::size_t stride,
                           std::uint8_t* HWY_RESTRICT out, std::size_t out_stride) {
  const hn::Half<BlockTag> half;
  const std::size_t pairs = kPairs != 0 ? kPairs : static_cast<std::size_t>(table.pairs);
  NarrowCursor at{table.base, table.shuffles, table.weights, pairs};
  const int vectors = table.vectors;
  for (int vector = 0; vector < vectors; vector += 2, out += 2 * kBlockLanes) {
    hn::Vec<SumTag> first[kChannels], second[kChannels];
    narrow_vector<kChannels>(at, pairs, row, stride, first);
    at.advance();
    narrow_vector<kChannels>(at, pairs, row, stride, second);
    at.advance();
    for (std::size_t c = 0; c < kChannels; ++c) {
      const auto words = hn::ReorderDemote2To(WordTag(), first[c], second[c]);
      hn::StoreU(hn::DemoteTo(half, words), half, out + c * out_stride);
    }
  }
}

template <std::size_t kChannels>
HWY_INLINE void narrow_channels(const NarrowTable& table, const std::uint8_t* row, std::size_t stride,
                                std::uint8_t* out, std::size_t out_stride) {
  switch (table.pairs) {
    case 1: return narrow_row<1, kChannels>(table, row, stride, out, out_stride);
    case 2: return narrow_row<2, kChannels>(table, row, stride, out, out_stride);
    case 3: return narrow_row<3, kChannels>(table, row, stride, out, out_stride);
    default: return narrow_row<0, kChannels>(table, row, stride, out, out_stride);
  }
}

void resample_narrow(const NarrowTable& table, int channels, const std::uint8_t* row, std::size_t stride,
                     std::uint8_t* out, std::size_t out_stride) {
  if (channels == 3) return narrow_channels<3>(table, row, stride, out, out_stride);
  return narrow_channels<1>(table, row, stride, out, out_stride);
}

void resample_wide(const WideTable& table, int channels, const std::uint8_t* row, std::size_t stride, std::uint8_t* out,
                   std::size_t out_stride) {
  const hn::CappedTag<std::int16_t, WideTable::kChunk> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const auto taps = static_cast<std::size_t>(table.taps);
  for (std::size_t o = 0; o < static_cast<std::size_t>(table.outputs); ++o) {
    const std::int16_t* high = table.weights + o * taps * 2;
    const std::int16_t* low = high + taps;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      const std::uint8_t* values = row + c * stride + table.first[o];
      auto high_sum = hn::Zero(d32), low_sum = hn::Zero(d32);
      for (std::size_t k = 0; k < taps; k += hn::Lanes(d16)) {
        const auto words = hn::PromoteTo(d16, hn::LoadU(d8, values + k));
        high_sum = hn::Add(high_sum, dot_pairs(words, hn::LoadU(d16, high + k)));
        low_sum = hn::Add(low_sum, dot_pairs(words, hn::LoadU(d16, low + k)));
      }
      const auto total = hn::SumOfLanes(d32, hn::Add(hn::ShiftLeft<kLowWeightBits>(high_sum), low_sum));
      const std::int32_t value = (hn::GetLane(total) + kHalf) >> kTapBits;
      out[c * out_stride + o] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
