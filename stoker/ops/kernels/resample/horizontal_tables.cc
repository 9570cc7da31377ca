#include "stoker/ops/kernels/resample/horizontal_tables.h"

#include <algorithm>
#include <cstring>

#include "stoker/ops/kernels/resample/row_kernels.h"

namespace stoker {
namespace {

constexpr int kBlockOutputs = 4;  // outputs of a 128-bit block
constexpr int kBlockBytes = 16;
constexpr int kShuffleTaps = 4;           // that one load of a block serves
constexpr std::uint8_t kZeroByte = 0x80;  // shuffle index that gives 0
// Above this many taps a dot product per output is quicker than four outputs in parallel, whatever their distance.
constexpr int kNarrowTapsMax = 24;

int columns_spanned(const AxisTaps& taps, int begin, int end) {
  const auto [low, high] = std::minmax_element(taps.first.begin() + begin, taps.first.begin() + end);
  return *high - *low;
}

int taps_used(const AxisTaps& taps, int begin, int end) {
  return *std::max_element(taps.count.begin() + begin, taps.count.begin() + end);
}

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

void HorizontalTables::build(const AxisTaps& taps, int begin, int end, int lanes) {
  is_narrow_ = taps_used(taps, begin, end) <= kNarrowTapsMax;
  for (int o = begin; o < end && is_narrow_; o += kBlockOutputs) {
    is_narrow_ = columns_spanned(taps, o, std::min(o + kBlockOutputs, end)) <= kBlockBytes - kShuffleTaps;
  }
  if (is_narrow_) {
    build_narrow(taps, begin, end, lanes);
  } else {
    build_wide(taps, begin, end);
  }
}

void HorizontalTables::build_narrow(const AxisTaps& taps, int begin, int end, int lanes) {
  const int outputs = end - begin, blocks = lanes / kBlockOutputs;
  const int pairs = (taps_used(taps, begin, end) + 1) / 2;
  const int vectors = round_up(outputs, 2 * lanes) / lanes;
  const auto shuffle_bytes = static_cast<std::size_t>(vectors) * 2 * static_cast<std::size_t>(blocks * kBlockBytes);
  const auto weight_count = static_cast<std::size_t>(vectors) * static_cast<std::size_t>(pairs * 4 * lanes);
  const auto base_count = static_cast<std::size_t>(vectors) * static_cast<std::size_t>(blocks);

  std::uint8_t* memory = memory_.bytes(shuffle_bytes + weight_count * 2 + base_count * 4);
  std::uint8_t* shuffles = memory;
  auto* weights = reinterpret_cast<std::int16_t*>(memory + shuffle_bytes);
  auto* base = reinterpret_cast<std::int32_t*>(memory + shuffle_bytes + weight_count * 2);
  std::memset(shuffles, kZeroByte, shuffle_bytes);
  std::memset(weights, 0, weight_count * 2);
  std::memset(base, 0, base_count * 4);

  for (int start = 0; start < outputs; start += kBlockOutputs) {
    const int two = start / (2 * lanes), within = start % (2 * lanes);
    const int vector = 2 * two + within / kBlockOutputs % 2, block = within / (2 * kBlockOutputs);
    const int count = std::min(kBlockOutputs, outputs - start);
    const auto firsts = taps.first.begin() + begin + start;
    const int lowest = *std::min_element(firsts, firsts + count);
    base[vector * blocks + block] = lowest - taps.source_begin;
    for (int t = 0; t < count; ++t) {
      const int offset = firsts[t] - lowest;
      for (int parity = 0; parity < 2; ++parity) {
        std::uint8_t* bytes = shuffles + (vector * 2 + parity) * blocks * kBlockBytes + block * kBlockBytes + 4 * t;
        bytes[0] = static_cast<std::uint8_t>(offset + 2 * parity);
        bytes[2] = static_cast<std::uint8_t>(offset + 2 * parity + 1);
      }
      const auto values = taps.weights_of(begin + start + t);
      for (std::size_t k = 0; k < values.size(); ++k) {
        const int pair = static_cast<int>(k / 2);
        std::int16_t* high = weights + (vector * pairs + pair) * 4 * lanes + 2 * (block * kBlockOutputs + t) + k % 2;
        high[0] = high_weight(values[k]);
        high[2 * lanes] = low_weight(values[k]);
      }
    }
  }
  narrow_ = {.vectors = vectors, .pairs = pairs, .base = base, .shuffles = shuffles, .weights = weights};
  overread_ = static_cast<std::size_t>(2 * pairs + kBlockBytes);
}

void HorizontalTables::build_wide(const AxisTaps& taps, int begin, int end) {
  const auto outputs = static_cast<std::size_t>(end - begin);
  const auto padded = static_cast<std::size_t>(round_up(taps_used(taps, begin, end), WideTable::kChunk));
  auto* weights = reinterpret_cast<std::int16_t*>(memory_.bytes(outputs * padded * 4 + outputs * 4));
  auto* first = reinterpret_cast<std::int32_t*>(weights + outputs * padded * 2);
  std::memset(weights, 0, outputs * padded * 4);
  for (std::size_t o = 0; o < outputs; ++o) {
    const int output = begin + static_cast<int>(o);
    first[o] = taps.first[static_cast<std::size_t>(output)] - taps.source_begin;
    std::int16_t* high = weights + o * padded * 2;
    const auto values = taps.weights_of(output);
    for (std::size_t k = 0; k < values.size(); ++k) {
      high[k] = high_weight(values[k]);
      high[padded + k] = low_weight(values[k]);
    }
  }
  wide_ = {.outputs = static_cast<int>(outputs), .taps = static_cast<int>(padded), .first = first, .weights = weights};
  overread_ = padded;
}

}  // namespace stoker
