// The horizontal pass of planar mode, to bytes or straight through the colour step.
#if defined(STOKER_OPS_KERNELS_PLANAR_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PLANAR_COLUMNS_INL_H_
#undef STOKER_OPS_KERNELS_PLANAR_COLUMNS_INL_H_
#else
#define STOKER_OPS_KERNELS_PLANAR_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "stoker/ops/kernels/planar/planar_color-inl.h"
#include "stoker/ops/kernels/planar/planar_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows hold samples minus 128. A sum that starts with these ends as samples of 0 .. 255, or minus 128 still.
template <bool kShort>
constexpr std::int32_t kSumStart = kShort ? 1 << 19 : 1 << 7;
template <bool kShort>
constexpr std::int32_t kUnsignedStart = kSumStart<kShort> + (kShort ? 128 << 20 : 128 << 8);

// One vector of outputs from `output` on. kSteps: how many, if known when compiling (the table is not wide then); else
// 0.
template <bool kShort, int kSteps>
HWY_INLINE SumVec unrounded_sums(const PlanarColumnTable& table, std::size_t output,
                                 const std::uint8_t* HWY_RESTRICT row, std::int32_t start) {
  const Bytes8 d8;
  const int steps = kSteps != 0 ? kSteps : table.steps;
  const auto shuffle = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(table.shuffle + output));
  const std::uint32_t* weights = table.weights + output;
  auto sum = hn::Set(Sums32(), start);
  if (kSteps != 0 || !table.wide) {
    const std::int32_t* base = table.base + output / kPlanarBlock;
    for (int k = 0; k < steps; ++k, row += 4, weights += table.stride) {
      const auto weight = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(weights));
      sum = add_dots<kShort>(sum, weight, window_bytes(row, base, shuffle));
    }
  } else {
    for (int k = 0; k < steps; ++k, row += 4, weights += table.stride) {
      const auto weight = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(weights));
      sum = add_dots<kShort>(sum, weight, gathered_bytes(row, table.offset + output, shuffle));
    }
  }
  return sum;
}

template <bool kShort, int kSteps>
HWY_INLINE SumVec planar_sums(const PlanarColumnTable& table, std::size_t output, const std::uint8_t* HWY_RESTRICT row,
                              std::int32_t start) {
  constexpr int kBits = kShort ? 20 : 8;
  return hn::ShiftRight<kBits>(unrounded_sums<kShort, kSteps>(table, output, row, start));
}

// Bytes of four vectors of outputs, of which each block of 128 bits has a part: the first vector's, then the second's.
HWY_INLINE ByteVec one_after_another(ByteVec bytes) {
#if defined(STOKER_PLANAR_AVX3)
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return ByteVec{_mm512_permutexvar_epi32(order, bytes.raw)};
#elif defined(STOKER_PLANAR_AVX2)
  return ByteVec{_mm256_permutevar8x32_epi32(bytes.raw, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))};
#else
  return bytes;
#endif
}

// Four vectors of outputs as bytes. The sums of 8-bit samples fit 16 bits: they are rounded there.
template <int kSteps>
HWY_INLINE ByteVec four_vectors(const PlanarColumnTable& table, std::size_t output,
                                const std::uint8_t* HWY_RESTRICT row) {
  const Words16 d16;
  SumVec sums[4];
  for (std::size_t i = 0; i < 4; ++i) sums[i] = unrounded_sums<false, kSteps>(table, output + i * kPlanarLanes, row, 0);
  const auto bytes =
      rounded_bytes(hn::ReorderDemote2To(d16, sums[0], sums[1]), hn::ReorderDemote2To(d16, sums[2], sums[3]));
  return one_after_another(hn::Xor(bytes, hn::Set(Bytes8(), 0x80)));
}

template <bool kShort, int kSteps>
HWY_INLINE void columns_of(const PlanarColumnTable& table, const std::uint8_t* HWY_RESTRICT row,
                           std::uint8_t* HWY_RESTRICT out) {
  const hn::Rebind<std::uint8_t, Sums32> d8;
  const auto outputs = static_cast<std::size_t>(table.outputs);
  std::size_t o = 0;
  if constexpr (!kShort) {
    for (; o + kPlanarBytes <= outputs; o += kPlanarBytes)
      hn::StoreU(four_vectors<kSteps>(table, o, row), Bytes8(), out + o);
  }
  for (; o + kPlanarLanes <= outputs; o += kPlanarLanes) {
    hn::StoreU(hn::DemoteTo(d8, planar_sums<kShort, kSteps>(table, o, row, kUnsignedStart<kShort>)), d8, out + o);
  }
  if (o == outputs) return;
  std::uint8_t last[kPlanarLanes];
  hn::StoreU(hn::DemoteTo(d8, planar_sums<kShort, kSteps>(table, o, row, kUnsignedStart<kShort>)), d8, last);
  std::memcpy(out + o, last, outputs - o);
}

void planar_columns8(const PlanarColumnTable& table, const std::uint8_t* row, std::uint8_t* out) {
  if (table.wide) return columns_of<false, 0>(table, row, out);
  switch (table.steps) {
    case 1: return columns_of<false, 1>(table, row, out);
    case 2: return columns_of<false, 2>(table, row, out);
    default: return columns_of<false, 0>(table, row, out);
  }
}

void planar_columns16(const PlanarColumnTable& table, const std::uint8_t* row, std::uint8_t* out) {
  columns_of<true, 0>(table, row, out);
}

#if STOKER_PLANAR_FUSED

// The weights of one vector of outputs, kept in registers for all rows of a block. kSteps as above.
template <int kSteps>
struct PlanarColumnVectors {
  ByteVec shuffle, weight0, weight1;
  const std::int32_t* base;

  HWY_INLINE PlanarColumnVectors(const PlanarColumnTable& table, std::size_t output) {
    const Bytes8 d8;
    static_assert(kSteps <= 2);
    static_assert(kPlanarBlockRows == 4);
    const auto* weights = reinterpret_cast<const std::uint8_t*>(table.weights + output);
    shuffle = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(table.shuffle + output));
    weight0 = hn::LoadU(d8, weights);
    weight1 = kSteps == 2 ? hn::LoadU(d8, weights + 4 * table.stride) : weight0;
    base = table.base + output / kPlanarBlock;
  }
  HWY_INLINE SumVec sums(const PlanarColumnTable&, std::size_t, const std::uint8_t* row, std::int32_t start) const {
    auto sum = add_dots<false>(hn::Set(Sums32(), start), weight0, window_bytes(row, base, shuffle));
    if (kSteps == 2) sum = add_dots<false>(sum, weight1, window_bytes(row + 4, base, shuffle));
    return hn::ShiftRight<8>(sum);
  }
};

template <>
struct PlanarColumnVectors<0> {
  HWY_INLINE PlanarColumnVectors(const PlanarColumnTable&, std::size_t) {}
  HWY_INLINE SumVec sums(const PlanarColumnTable& table, std::size_t output, const std::uint8_t* row,
                         std::int32_t start) const {
    return planar_sums<false, 0>(table, output, row, start);
  }
};

template <class Store>
HWY_INLINE void store_part(ValueVec values, std::size_t count, typename Store::Element* out) {
  typename Store::Element all[kPlanarLanes];
  Store::store(values, all);
  std::memcpy(out, all, count * sizeof(all[0]));
}

// Four rows' values of one slot as u8. They lie in 0 .. 255 if they are not NaN or negative, which both become 0.
HWY_INLINE void store_four_rows(const ValueVec* values, std::uint8_t* out, std::size_t out_stride) {
  const Words16 d16;
  SumVec integers[4];  // to nearest, ties to even
  for (std::size_t r = 0; r < 4; ++r) {
#if defined(STOKER_PLANAR_AVX3)
    integers[r] = SumVec{_mm512_cvtps_epi32(values[r].raw)};
#elif defined(STOKER_PLANAR_AVX2)
    integers[r] = SumVec{_mm256_cvtps_epi32(values[r].raw)};
#elif defined(STOKER_PLANAR_SSE4)
    integers[r] = SumVec{_mm_cvtps_epi32(values[r].raw)};
#else
    integers[r] = hn::NearestInt(hn::IfThenElseZero(hn::Gt(values[r], hn::Zero(Values32())), values[r]));
#endif
  }
  const auto bytes = pack_bytes(Bytes8(), hn::ReorderDemote2To(d16, integers[0], integers[1]),
                                hn::ReorderDemote2To(d16, integers[2], integers[3]));
  alignas(64) std::uint8_t rows[4 * kPlanarLanes];
  hn::Store(one_after_another(bytes), Bytes8(), rows);
  for (std::size_t r = 0; r < 4; ++r) hwy::CopyBytes<kPlanarLanes>(rows + r * kPlanarLanes, out + r * out_stride);
}

// Cb and Cr have one table.
template <class Store, int kYSteps, int kChromaSteps>
HWY_INLINE void finish_as(const PlanarFinish& job) {
  using Element = typename Store::Element;
  const PlanarColorVectors color(*job.color);
  const PlanarColumnTable y_table = job.table_y, chroma_table = job.table_chroma;
  const std::uint8_t *y_rows = job.rows[0], *cb_rows = job.rows[1], *cr_rows = job.rows[2];
  Element* const out[3] = {reinterpret_cast<Element*>(job.out[0]), reinterpret_cast<Element*>(job.out[1]),
                           reinterpret_cast<Element*>(job.out[2])};
  const std::size_t row_stride = job.row_stride, out_stride = job.out_stride / sizeof(Element);
  const auto outputs = static_cast<std::size_t>(y_table.outputs), rows = static_cast<std::size_t>(job.row_count);
  for (std::size_t o = 0; o < outputs; o += kPlanarLanes) {
    const PlanarColumnVectors<kYSteps> of_y(y_table, o);
    const PlanarColumnVectors<kChromaSteps> of_chroma(chroma_table, o);
    const auto values_at = [&](std::size_t from) HWY_ATTR {
      return color.ordered(of_y.sums(y_table, o, y_rows + from, kUnsignedStart<false>),
                           of_chroma.sums(chroma_table, o, cb_rows + from, kSumStart<false>),
                           of_chroma.sums(chroma_table, o, cr_rows + from, kSumStart<false>));
    };
    const bool whole = o + kPlanarLanes <= outputs;
    if constexpr (std::is_same_v<Store, StoreU8>) {
      if (rows == 4 && whole) {
        ValueVec slot0[4], slot1[4], slot2[4];
        for (std::size_t r = 0; r < 4; ++r) {
          const SlotVectors values = values_at(r * row_stride);
          slot0[r] = values.slot0;
          slot1[r] = values.slot1;
          slot2[r] = values.slot2;
        }
        store_four_rows(slot0, out[0] + o, out_stride);
        store_four_rows(slot1, out[1] + o, out_stride);
        store_four_rows(slot2, out[2] + o, out_stride);
        continue;
      }
    }
    std::size_t from = 0, to = o;
    for (std::size_t r = 0; r < rows; ++r, from += row_stride, to += out_stride) {
      const SlotVectors values = values_at(from);
      if (whole && job.past_caches) {
        store_past_caches<Store>(values.slot0, out[0] + to);
        store_past_caches<Store>(values.slot1, out[1] + to);
        store_past_caches<Store>(values.slot2, out[2] + to);
      } else if (whole) {
        Store::store(values.slot0, out[0] + to);
        Store::store(values.slot1, out[1] + to);
        Store::store(values.slot2, out[2] + to);
      } else {
        store_part<Store>(values.slot0, outputs - o, out[0] + to);
        store_part<Store>(values.slot1, outputs - o, out[1] + to);
        store_part<Store>(values.slot2, outputs - o, out[2] + to);
      }
    }
  }
}

template <class Store>
HWY_INLINE void finish_steps(const PlanarFinish& job) {
  const PlanarColumnTable &y = job.table_y, &chroma = job.table_chroma;
  if (y.wide || chroma.wide) return finish_as<Store, 0, 0>(job);
  if (y.steps == 1 && chroma.steps == 1) return finish_as<Store, 1, 1>(job);
  if (y.steps == 2 && chroma.steps == 1) return finish_as<Store, 2, 1>(job);
  if (y.steps == 2 && chroma.steps == 2) return finish_as<Store, 2, 2>(job);
  finish_as<Store, 0, 0>(job);
}

void planar_finish(const PlanarFinish& job) {
  switch (job.dtype) {
    case DType::kF32: return finish_steps<StoreF32>(job);
    case DType::kF16: return finish_steps<StoreF16>(job);
    case DType::kBF16: return finish_steps<StoreBF16>(job);
    case DType::kU8: return finish_steps<StoreU8>(job);
    default: return;  // no image is stored so; PlanarWriter refuses it
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
