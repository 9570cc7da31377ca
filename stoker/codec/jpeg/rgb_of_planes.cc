#include "stoker/codec/jpeg/rgb_of_planes.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/codec/jpeg/rgb_of_planes.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/base/simd_words-inl.h"

// All loops go by whole vectors and write up to one beyond the end, where rows have room for it.
HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RgbBytes = hn::CappedTag<std::uint8_t, 64>;
using RgbWords = hn::Repartition<std::int16_t, RgbBytes>;
using RgbByteVec = hn::Vec<RgbBytes>;
using RgbWordVec = hn::Vec<RgbWords>;

// Half of the bytes of each 128-bit block as numbers of 16 bits, less 128.
struct CenteredWords {
  RgbWordVec low, high;

  HWY_INLINE explicit CenteredWords(RgbByteVec samples) {
    const RgbBytes d8;
    const RgbWords d16;
    const auto zero = hn::Zero(d8);
    const auto center = hn::Set(d16, 128);
    low = hn::Sub(hn::BitCast(d16, hn::InterleaveLower(d8, samples, zero)), center);
    high = hn::Sub(hn::BitCast(d16, hn::InterleaveUpper(d8, samples, zero)), center);
  }
};

HWY_INLINE RgbByteVec samples_of(RgbWordVec low, RgbWordVec high) {
  const RgbBytes d8;
  return hn::Xor(hn::BitCast(d8, pack_bytes_signed(low, high)), hn::Set(d8, 0x80));
}

// (x * first + y * second + 2^15) >> 16
HWY_INLINE RgbWordVec rounded_shares(RgbWordVec x, int first, RgbWordVec y, int second) {
  const RgbWords d16;
  const hn::RepartitionToWide<RgbWords> d32;
  const auto pair = static_cast<std::int32_t>(static_cast<std::uint32_t>(second) << 16 | (first & 0xFFFF));
  const auto factors = hn::BitCast(d16, hn::Set(d32, pair));
  const auto half = hn::Set(d32, 1 << 15);
  const auto low = hn::Add(dot_pairs(hn::InterleaveLower(d16, x, y), factors), half);
  const auto high = hn::Add(dot_pairs(hn::InterleaveUpper(d16, x, y), factors), half);
  return pack_words(hn::ShiftRight<16>(low), hn::ShiftRight<16>(high));
}

// (x * factor + 2^15) >> 16
HWY_INLINE RgbWordVec rounded_share(RgbWordVec x, int factor) {
  const RgbWords d16;
#if HWY_TARGET == HWY_EMU128  // has no upper halves of products (stoker/base/simd_targets.h)
  return rounded_shares(x, factor, hn::Zero(d16), 0);
#else
  const auto twice = hn::MulHigh(hn::Add(x, x), hn::Set(d16, static_cast<std::int16_t>(factor)));
  return hn::ShiftRight<1>(hn::Add(twice, hn::Set(d16, 1)));
#endif
}

// JFIF's factors times 2^16, less what whole multiples of 2^16 give.
constexpr int kRedOfCr = 91881 - 65536, kBlueOfCb = 116130 - 131072, kGreenOfCb = -22554, kGreenOfCr = -46802 + 65536;

struct RgbWordsOfPixels {
  RgbWordVec red, green, blue;  // less 128

  HWY_INLINE RgbWordsOfPixels(RgbWordVec y, RgbWordVec cb, RgbWordVec cr)
      : red(hn::Add(y, hn::Add(cr, rounded_share(cr, kRedOfCr)))),
        green(hn::Add(y, hn::Sub(rounded_shares(cb, kGreenOfCb, cr, kGreenOfCr), cr))),
        blue(hn::Add(y, hn::Add(hn::Add(cb, cb), rounded_share(cb, kBlueOfCb)))) {}
};

void rgb_row(const std::uint8_t* luma, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
             std::uint8_t* out) {
  const RgbBytes d8;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d8)) {
    const CenteredWords y(hn::LoadU(d8, luma + i)), b(hn::LoadU(d8, cb + i)), r(hn::LoadU(d8, cr + i));
    const RgbWordsOfPixels low(y.low, b.low, r.low), high(y.high, b.high, r.high);
    hn::StoreInterleaved3(samples_of(low.red, high.red), samples_of(low.green, high.green),
                          samples_of(low.blue, high.blue), d8, out + 3 * i);
  }
}

void grey_row(const std::uint8_t* luma, std::size_t count, std::uint8_t* out) {
  const RgbBytes d8;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d8)) {
    const auto y = hn::LoadU(d8, luma + i);
    hn::StoreInterleaved3(y, y, y, d8, out + 3 * i);
  }
}

// 3 * near + far
void weigh_rows(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::uint16_t* sums) {
  const RgbWords d16;
  const hn::Rebind<std::uint8_t, RgbWords> half;
  const hn::RebindToUnsigned<RgbWords> du16;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d16)) {
    const auto a = hn::PromoteTo(du16, hn::LoadU(half, near + i)), b = hn::PromoteTo(du16, hn::LoadU(half, far + i));
    hn::StoreU(hn::Add(hn::Add(hn::Add(a, a), a), b), du16, sums + i);
  }
}

// Two samples of each sum but the first and the last, which are neighbours: (3 * sum + neighbour + bias) >> 4.
void spread_row(const std::uint16_t* sums, std::size_t count, int left_bias, int right_bias, std::uint8_t* out) {
  const hn::RebindToUnsigned<RgbWords> du16;
  const RgbBytes d8;
  const auto before = hn::Set(du16, static_cast<std::uint16_t>(left_bias));
  const auto after = hn::Set(du16, static_cast<std::uint16_t>(right_bias));
  for (std::size_t i = 0; i < count; i += hn::Lanes(du16)) {
    const auto sum = hn::LoadU(du16, sums + i + 1);
    const auto three = hn::Add(hn::Add(sum, sum), sum);
    const auto left = hn::ShiftRight<4>(hn::Add(hn::Add(three, before), hn::LoadU(du16, sums + i)));
    const auto right = hn::ShiftRight<4>(hn::Add(hn::Add(three, after), hn::LoadU(du16, sums + i + 2)));
    hn::StoreU(hn::BitCast(d8, hn::Or(left, hn::ShiftLeft<8>(right))), d8, out + 2 * i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stoker {
namespace {

HWY_EXPORT(rgb_row);
HWY_EXPORT(grey_row);
HWY_EXPORT(weigh_rows);
HWY_EXPORT(spread_row);

constexpr std::size_t kVectorMax = 64;

/// The rows of one chroma component under a window, as fine as the image.
class FineChroma {
 public:
  /// Bytes of memory that one needs.
  static std::size_t bytes(Rect window) {
    const auto columns = static_cast<std::size_t>(window.width);
    return round_up(2 * (columns / 2 + 4) + kVectorMax) + round_up(columns + 2 + kVectorMax);
  }

  FineChroma(const Plane& plane, Rect window, std::uint8_t* memory)
      : plane_(plane),
        window_(window),
        first_(window.x / 2),
        last_((window.x + window.width - 1) / 2),
        begin_(std::max(first_ - 1, 0)),
        end_(std::min(last_ + 2, plane.whole_width)),
        sums_(reinterpret_cast<std::uint16_t*>(memory)),
        samples_(memory + bytes(window) - round_up(static_cast<std::size_t>(window.width) + 2 + kVectorMax)) {}

  /// Of the image's row y. Valid until the next call.
  const std::uint8_t* row(int y) const {
    if (plane_.across == 1) return plane_.at(window_.x, y);
    const int near = plane_.down == 1 ? y : y / 2;
    const int far = plane_.down == 1 ? y : std::clamp(near + (y % 2 == 0 ? -1 : 1), 0, plane_.whole_height - 1);
    std::uint16_t* const sums = sums_ + (begin_ - (first_ - 1));
    const auto held = static_cast<std::size_t>(end_ - begin_);
    HWY_DYNAMIC_DISPATCH(weigh_rows)(plane_.at(begin_, near), plane_.at(begin_, far), held, sums);
    // At the image's edges a sample is its own neighbour.
    if (begin_ == first_) sums[-1] = sums[0];
    if (end_ == last_ + 1) sums[held] = sums[held - 1];
    // Of one row, 3 + 1 parts of which make a sum, libjpeg rounds by less.
    const bool two_rows = plane_.down == 2;
    HWY_DYNAMIC_DISPATCH(spread_row)
    (sums_, static_cast<std::size_t>(last_ - first_ + 1), two_rows ? 8 : 4, two_rows ? 7 : 8, samples_);
    return samples_ + window_.x % 2;
  }

 private:
  static std::size_t round_up(std::size_t bytes) { return (bytes + kVectorMax - 1) / kVectorMax * kVectorMax; }

  const Plane& plane_;
  const Rect window_;
  const int first_, last_;  // samples under the window,
  const int begin_, end_;   // and with their neighbours, as far as there are
  std::uint16_t* const sums_;
  std::uint8_t* const samples_;
};

bool is_fine(const Plane& plane) { return plane.across == 1 && plane.down == 1; }

}  // namespace

bool makes_rgb_of(const Planes& sizes) {
  const auto& [luma, cb, cr] = sizes.plane;
  if (sizes.count == 1) return is_fine(luma);
  if (sizes.count != 3 || !is_fine(luma) || cb.across != cr.across || cb.down != cr.down) return false;
  return is_fine(cb) || (cb.across == 2 && cb.down <= 2 && cb.whole_width > 2);
}

ImageView RgbOfPlanes::convert(const Planes& planes, Rect window) {
  ensure_isa();
  const std::ptrdiff_t stride = std::ptrdiff_t{3} * window.width;
  // What a row's last vector writes beyond its end, the next row writes anew.
  std::uint8_t* const pixels =
      pixels_.bytes(static_cast<std::size_t>(stride) * static_cast<std::size_t>(window.height) + 3 * kVectorMax);
  const auto columns = static_cast<std::size_t>(window.width);
  const auto luma = [&](int row) { return planes.plane[0].at(window.x, window.y + row); };
  if (planes.count == 1) {
    for (int row = 0; row < window.height; ++row) {
      HWY_DYNAMIC_DISPATCH(grey_row)(luma(row), columns, pixels + row * stride);
    }
  } else {
    const std::size_t bytes = FineChroma::bytes(window);
    std::uint8_t* const memory = rows_.bytes(2 * bytes);
    const FineChroma cb(planes.plane[1], window, memory), cr(planes.plane[2], window, memory + bytes);
    for (int row = 0; row < window.height; ++row) {
      const std::uint8_t *const b = cb.row(window.y + row), *const r = cr.row(window.y + row);
      HWY_DYNAMIC_DISPATCH(rgb_row)(luma(row), b, r, columns, pixels + row * stride);
    }
  }
  return interleaved_view(pixels, window.width, window.height, 3);
}

}  // namespace stoker
#endif
