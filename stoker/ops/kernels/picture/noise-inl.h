// Noise: a group of random numbers at a time (ops/picture/pixel_noise.h), for as many values that lie side by side.
#if defined(STOKER_OPS_KERNELS_PICTURE_NOISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_NOISE_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_NOISE_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_NOISE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "stoker/ops/picture/noise_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using NoiseTag = hn::CappedTag<std::uint32_t, PixelNoise::kBlocks>;
using NoiseVector = hn::Vec<NoiseTag>;
using NoiseSigned = hn::RebindToSigned<NoiseTag>;
using NoiseFloat = hn::RebindToFloat<NoiseTag>;
using NoiseFloats = hn::Vec<NoiseFloat>;

struct NoiseProduct {
  NoiseVector high, low;
};

HWY_INLINE NoiseProduct noise_product(NoiseVector a, std::uint64_t multiplier) {
  const NoiseTag d;
  const auto factor = hn::Set(d, static_cast<std::uint32_t>(multiplier));
  const auto even = hn::MulEven(a, factor), odd = hn::MulEven(hn::Shuffle2301(a), factor);
  return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even))};
}

struct NoiseWords {
  NoiseVector word[4];
};

// Philox of the blocks from `block` on.
HWY_INLINE NoiseWords noise_blocks(std::uint64_t key, std::uint64_t block) {
  const NoiseTag d;
  // The blocks of a group differ in the last four bits alone.
  NoiseVector c0 = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<std::uint32_t>(block)));
  NoiseVector c1 = hn::Set(d, static_cast<std::uint32_t>(block >> 32)), c2 = hn::Zero(d), c3 = hn::Zero(d);
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < Philox::kRounds; ++round, key0 += Philox::kWeyl0, key1 += Philox::kWeyl1) {
    const NoiseProduct first = noise_product(c0, Philox::kMultiplier0),
                       second = noise_product(c2, Philox::kMultiplier1);
    c0 = hn::Xor(hn::Xor(second.high, c1), hn::Set(d, key0));
    c1 = second.low;
    c2 = hn::Xor(hn::Xor(first.high, c3), hn::Set(d, key1));
    c3 = first.low;
  }
  return {{c0, c1, c2, c3}};
}

// PixelNoise::word() from group * kGroupWords on.
inline void noise_words(std::uint64_t key, std::int64_t group, std::uint32_t* HWY_RESTRICT words) {
  const NoiseTag d;
  for (std::size_t lane = 0; lane < PixelNoise::kBlocks; lane += hn::Lanes(d)) {
    const NoiseWords made = noise_blocks(key, static_cast<std::uint64_t>(group) * PixelNoise::kBlocks + lane);
    for (std::size_t i = 0; i < 4; ++i) hn::StoreU(made.word[i], d, words + i * PixelNoise::kBlocks + lane);
  }
}

HWY_INLINE NoiseFloats noise_float(NoiseVector value) {
  return hn::ConvertTo(NoiseFloat(), hn::BitCast(NoiseSigned(), value));
}

// factor * a + b, each rounded.
HWY_INLINE NoiseFloats noise_term(NoiseFloats a, NoiseFloats factor, float b) {
  return hn::Add(hn::Mul(a, factor), hn::Set(NoiseFloat(), b));
}

// PixelNoise::radius().
HWY_INLINE NoiseFloats noise_radius(NoiseVector bits) {
  const NoiseTag d;
  const NoiseFloat df;
  using P = PixelNoise;
  const auto odd = hn::Add(hn::Add(bits, bits), hn::Set(d, 1));
  const auto uniform = hn::Mul(noise_float(odd), hn::Set(df, 0x1p-17f));
  const auto root = hn::Set(d, P::kSqrtHalfBits);
  const auto above = hn::Sub(hn::BitCast(d, uniform), root);
  const auto exponent = hn::ConvertTo(df, hn::ShiftRight<23>(hn::BitCast(NoiseSigned(), above)));
  const auto mantissa = hn::BitCast(df, hn::Add(hn::And(above, hn::Set(d, 0x7FFFFF)), root));
  const auto t = hn::Sub(mantissa, hn::Set(df, 1.0f));
  auto sum = noise_term(hn::Set(df, P::kLog6), t, P::kLog5);
  sum = noise_term(sum, t, P::kLog4);
  sum = noise_term(sum, t, P::kLog3);
  sum = noise_term(sum, t, P::kLog2);
  sum = noise_term(sum, t, P::kLog1);
  sum = noise_term(sum, t, P::kLog0);
  const auto tail = hn::Add(hn::Mul(hn::Mul(t, t), sum), t);
  const auto log = hn::Add(hn::Mul(exponent, hn::Set(df, P::kLn2)), tail);
  return hn::Sqrt(hn::Mul(log, hn::Set(df, -2.0f)));
}

// The two deviates of each word.
struct NoiseDeviates {
  NoiseFloats first, second;
};

HWY_INLINE NoiseDeviates noise_deviates(NoiseVector words) {
  const NoiseTag d;
  const NoiseFloat df;
  using P = PixelNoise;
  const auto part = hn::And(words, hn::Set(d, 0x3FFF));
  const auto place = hn::Add(noise_float(hn::Sub(part, hn::Set(d, 0x2000))), hn::Set(df, 0.5f));
  const auto angle = hn::Mul(place, hn::Set(df, P::kAngleStep)), square = hn::Mul(angle, angle);
  const auto cosine_sum = noise_term(noise_term(hn::Set(df, P::kCos2), square, P::kCos1), square, P::kCos0);
  const auto sine_sum = noise_term(noise_term(hn::Set(df, P::kSin2), square, P::kSin1), square, P::kSin0);
  const auto cosine = hn::Add(hn::Mul(square, cosine_sum), hn::Set(df, 1.0f));
  const auto sine = hn::Add(hn::Mul(hn::Mul(angle, square), sine_sum), angle);
  const auto odd = hn::RebindMask(df, hn::TestBit(words, hn::Set(d, 1U << 14)));
  const auto sign = hn::BitCast(df, hn::ShiftLeft<16>(hn::And(words, hn::Set(d, 1U << 15))));
  const auto radius = noise_radius(hn::ShiftRight<16>(words));
  return {hn::Xor(hn::Mul(radius, hn::IfThenElse(odd, hn::Neg(sine), cosine)), sign),
          hn::Xor(hn::Mul(radius, hn::IfThenElse(odd, cosine, sine)), sign)};
}

// PixelNoise::normal() from group * kGroupDeviates on.
inline void noise_normals(std::uint64_t key, std::int64_t group, float* HWY_RESTRICT values) {
  const NoiseTag d;
  const NoiseFloat df;
  for (std::size_t lane = 0; lane < PixelNoise::kBlocks; lane += hn::Lanes(d)) {
    const NoiseWords made = noise_blocks(key, static_cast<std::uint64_t>(group) * PixelNoise::kBlocks + lane);
    for (std::size_t i = 0; i < 4; ++i) {
      const NoiseDeviates deviates = noise_deviates(made.word[i]);
      hn::StoreU(deviates.first, df, values + 2 * i * PixelNoise::kBlocks + lane);
      hn::StoreU(deviates.second, df, values + (2 * i + 1) * PixelNoise::kBlocks + lane);
    }
  }
}

// `values(group, numbers, from, to)` changes as many values as a group has numbers; the last ones have fewer of their
// own, and are changed in a copy.
template <int kNumbers, class Values>
HWY_INLINE void noise_in_groups(std::int64_t count, const std::uint8_t* in, std::uint8_t* out, const Values& values) {
  for (std::int64_t group = 0; group * kNumbers < count; ++group) {
    const std::int64_t at = group * kNumbers;
    if (at + kNumbers <= count) {
      values(group, in + at, out + at);
      continue;
    }
    std::uint8_t rest[kNumbers] = {};
    std::memcpy(rest, in + at, static_cast<std::size_t>(count - at));
    values(group, rest, rest);
    std::memcpy(out + at, rest, static_cast<std::size_t>(count - at));
  }
}

inline void add_gaussian_noise(const PicturePass& pass) {
  const NoiseFloat df;
  const PictureStep& step = *pass.steps;
  const auto mean = hn::Set(df, step.f[0]), deviation = hn::Set(df, step.f[1]);
  const auto values = [&](std::int64_t group, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
    const hn::Rebind<std::uint8_t, NoiseFloat> d8;
    const hn::Rebind<std::int32_t, NoiseFloat> d32;
    alignas(64) float normals[PixelNoise::kGroupDeviates];
    noise_normals(step.key, group, normals);
    for (std::size_t i = 0; i < PixelNoise::kGroupDeviates; i += hn::Lanes(df)) {
      const auto noise = hn::Add(hn::Mul(hn::LoadU(df, normals + i), deviation), mean);
      const auto value = hn::Add(hn::ConvertTo(df, hn::PromoteTo(d32, hn::LoadU(d8, from + i))), noise);
      const auto clamped = hn::Min(hn::Max(value, hn::Zero(df)), hn::Set(df, 255.0f));
      hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(clamped)), d8, to + i);
    }
  };
  noise_in_groups<PixelNoise::kGroupDeviates>(3 * pass.pixels(), pass.in, pass.out, values);
}

inline void add_salt_and_pepper(const PicturePass& pass) {
  const NoiseSigned d;
  const PictureStep& step = *pass.steps;
  const auto salt = hn::Set(d, step.n[0]), any = hn::Set(d, step.n[1]);
  const std::ptrdiff_t pixels = pass.pixels();
  for (std::int64_t at = 0; at < pixels; at += PixelNoise::kGroupWords) {
    alignas(64) std::uint32_t words[PixelNoise::kGroupWords];
    noise_words(step.key, at / PixelNoise::kGroupWords, words);
    // A value becomes (value & kept) | set.
    std::uint8_t kept[PixelNoise::kGroupWords], set[PixelNoise::kGroupWords];
    const hn::Rebind<std::uint8_t, NoiseSigned> d8;
    for (std::size_t i = 0; i < PixelNoise::kGroupWords; i += hn::Lanes(d)) {
      const auto number = hn::BitCast(d, hn::ShiftRight<8>(hn::LoadU(NoiseTag(), words + i)));
      const auto full = hn::Set(d, 255);
      hn::StoreU(hn::DemoteTo(d8, hn::IfThenZeroElse(hn::Lt(number, any), full)), d8, kept + i);
      hn::StoreU(hn::DemoteTo(d8, hn::IfThenElseZero(hn::Lt(number, salt), full)), d8, set + i);
    }
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(PixelNoise::kGroupWords, pixels - at));
    for (int c = 0; c < 3; ++c) {
      const std::uint8_t* const from = pass.in + c * pixels + at;
      std::uint8_t* const to = pass.out + c * pixels + at;
      for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>((from[i] & kept[i]) | set[i]);
    }
  }
}

// ShotNoiseCount::none().
HWY_INLINE NoiseFloats shot_noise_none(hn::Vec<NoiseSigned> value, float ratio) {
  const NoiseSigned d;
  const NoiseFloat df;
  auto power = hn::Set(df, 1.0f);
  for (int bit = 0; bit < 8; ++bit) {
    const auto has = hn::RebindMask(df, hn::TestBit(value, hn::Set(d, 1 << bit)));
    power = hn::IfThenElse(has, hn::Mul(power, hn::Set(df, ratio)), power);
    ratio = ratio * ratio;
  }
  return power;
}

// ShotNoiseCount::count(), as floats, of several vectors: each round waits for the one before it, of the same vector.
constexpr std::size_t kShotNoiseVectors = 4;
using ShotNoiseVectors = NoiseFloats[kShotNoiseVectors];

HWY_INLINE void shot_noise_count(const ShotNoiseVectors& mean, ShotNoiseVectors& probability,
                                 const ShotNoiseVectors& uniform, ShotNoiseVectors& count) {
  const NoiseFloat df;
  const auto one = hn::Set(df, 1.0f), least = hn::Set(df, ShotNoiseCount::kLeast);
  ShotNoiseVectors sum;
  for (std::size_t i = 0; i < kShotNoiseVectors; ++i) {
    sum[i] = probability[i];
    count[i] = hn::Zero(df);
  }
  for (float next = 1;; next = next + 1) {
    const auto reciprocal = hn::Set(df, 1.0f / next);
    auto any = hn::Lt(one, one);
    for (std::size_t i = 0; i < kShotNoiseVectors; ++i) {
      // Once false in a lane it stays so: sums do not fall, and past the mean probabilities do not rise.
      const auto goes_on =
          hn::And(hn::Ge(uniform[i], sum[i]), hn::Or(hn::Lt(count[i], mean[i]), hn::Ge(probability[i], least)));
      any = hn::Or(any, goes_on);
      count[i] = hn::Add(count[i], hn::IfThenElseZero(goes_on, one));
      probability[i] = hn::Mul(probability[i], hn::Mul(mean[i], reciprocal));
      sum[i] = hn::Add(sum[i], probability[i]);
    }
    if (hn::AllFalse(df, any)) return;
  }
}

inline void add_shot_noise(const PicturePass& pass) {
  const NoiseSigned d;
  const NoiseFloat df;
  const PictureStep& step = *pass.steps;
  const std::int64_t groups_of_part = ShotNoiseCount::words_of_part(pass) / PixelNoise::kGroupWords;
  const auto values = [&](std::int64_t group, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
    const hn::Rebind<std::uint8_t, NoiseSigned> d8;
    float counts[PixelNoise::kGroupWords] = {};
    std::uint32_t words[PixelNoise::kGroupWords];
    for (int part = 0; part < step.n[0]; ++part) {
      noise_words(step.key, part * groups_of_part + group, words);
      for (std::size_t i = 0; i < PixelNoise::kGroupWords; i += kShotNoiseVectors * hn::Lanes(d)) {
        ShotNoiseVectors mean, none, uniform, count;
        for (std::size_t k = 0; k < kShotNoiseVectors; ++k) {
          const std::size_t at = i + k * hn::Lanes(d);
          const auto value = hn::PromoteTo(d, hn::LoadU(d8, from + at));
          mean[k] = hn::Mul(hn::ConvertTo(df, value), hn::Set(df, step.f[0]));
          none[k] = shot_noise_none(value, step.f[1]);
          uniform[k] =
              hn::Mul(noise_float(hn::ShiftRight<8>(hn::LoadU(NoiseTag(), words + at))), hn::Set(df, 0x1p-24f));
        }
        shot_noise_count(mean, none, uniform, count);
        for (std::size_t k = 0; k < kShotNoiseVectors; ++k) {
          float* const to_counts = counts + i + k * hn::Lanes(d);
          hn::StoreU(hn::Add(hn::LoadU(df, to_counts), count[k]), df, to_counts);
        }
      }
    }
    for (std::size_t i = 0; i < PixelNoise::kGroupWords; i += hn::Lanes(d)) {
      const auto value = hn::Min(hn::Mul(hn::LoadU(df, counts + i), hn::Set(df, step.f[2])), hn::Set(df, 255.0f));
      hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(value)), d8, to + i);
    }
  };
  noise_in_groups<PixelNoise::kGroupWords>(3 * pass.pixels(), pass.in, pass.out, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
