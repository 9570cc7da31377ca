// What is done to one picture, as plain data that host and device read: a list of steps, drawn from a view's operators.
// A picture has the output's size and three planes of bytes, R, G and B, one after another without padding.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

/// What a step computes. The meaning of each stands in picture_meaning.h, what it needs in kPictureTraits.
enum class PictureKind : std::uint8_t {
  kAffine,  // of a linear run: each channel times f[c], plus f[3 + c]
  kInvert,  // 255 - value
};
constexpr std::size_t kPictureKinds = 2;

struct PictureStep {
  PictureKind kind;
  bool alone;  // never computed in one pass with its neighbours: its own result is rounded to 8 bits
  // The parameters, as the kind defines them.
  float f[16];
  std::int32_t n[8];
  std::uint64_t key;  // of random numbers by pixel
};

/// What has to be counted of a picture before a pass over it.
enum class PictureStatistic : std::uint8_t {
  kNone,
  kMeans,       // of each channel
  kHistograms,  // of each channel
};

struct PictureTraits {
  PictureKind kind;
  // Steps of a run that follow each other make one pass over the pixels, in float32, rounded at the end.
  bool run = false;
  // A unit reads pixels of the picture besides its own: the result goes to the other one of two buffers.
  bool reads_around = false;
  PictureStatistic statistic = PictureStatistic::kNone;
  int unit = 1;  // side of the square of pixels that one call of the meaning computes
};

/// By PictureKind.
inline constexpr std::array<PictureTraits, kPictureKinds> kPictureTraits = {{
    {.kind = PictureKind::kAffine, .run = true},
    {.kind = PictureKind::kInvert},
}};
static_assert([] {
  for (std::size_t i = 0; i < kPictureKinds; ++i) {
    if (kPictureTraits[i].kind != static_cast<PictureKind>(i)) return false;
  }
  return true;
}());
constexpr const PictureTraits& traits_of(PictureKind kind) { return kPictureTraits[static_cast<std::size_t>(kind)]; }

/// The most steps that the operators of a view may draw together.
constexpr int kPictureStepsMax = 64;

/// The steps of one picture. It holds all of them by itself: drawing allocates nothing.
class PictureSteps {
 public:
  void clear() { count_ = 0; }
  /// A step whose parameters are all 0. Operators add no more than their bounds() say.
  PictureStep& add(PictureKind kind) {
    assert(count_ < kPictureStepsMax);
    PictureStep& step = steps_[static_cast<std::size_t>(count_++)];
    step = {};
    step.kind = kind;
    return step;
  }
  std::span<const PictureStep> all() const { return {steps_.data(), static_cast<std::size_t>(count_)}; }
  std::span<PictureStep> all() { return {steps_.data(), static_cast<std::size_t>(count_)}; }

 private:
  std::array<PictureStep, kPictureStepsMax> steps_;
  int count_ = 0;
};

/// The most steps of one run.
constexpr int kPictureRunMax = 16;

/// How many of these steps, of which there is one at least, make the first pass.
int pass_length(std::span<const PictureStep> steps);
/// What has to be counted for a pass of these steps.
PictureStatistic statistic_of(std::span<const PictureStep> pass);

}  // namespace stoker
