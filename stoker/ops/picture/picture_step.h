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
  // Of linear runs.
  kAffine,      // each channel times f[c], plus f[3 + c]
  kContrast,    // f[0] times the colour, plus f[1] times the grey of the mean colour
  kSaturation,  // f[0] times the colour, plus f[1] times its grey
  kMatrix,      // each channel: f[3 * c], f[3 * c + 1], f[3 * c + 2] times red, green, blue, plus f[9 + c]
  // Step by step what torchvision does to tensors of bytes: f[0] is the factor, f[1] is 1 - factor.
  kTorchvisionBrightness,
  kTorchvisionContrast,
  kTorchvisionSaturation,
  kTorchvisionHue,
  kTorchvisionGrayscale,
  // Of each value by itself.
  kInvert,
  kPosterize,    // the bits of n[0]
  kSolarize,     // inverted from n[0] on
  kSolarizeAdd,  // those below 128 plus n[0], 255 at most
  kGamma,        // to the power of f[0], times f[1]
  kEqualize,
  kAutocontrast,
  // Of the channels.
  kPermutation,  // n[c] is the channel that becomes channel c
  // The picture to the work, and that to the picture (blur_meaning.h, jpeg_meaning.h).
  kBlurAcross,
  kBlurDown,
  kJpegCode,
  kJpegColor,
  kSharpness,      // sharpness_meaning.h
  kGaussianNoise,  // noise_meaning.h
  kShotNoise,
  kSaltAndPepper,
  kWarp,     // shows the picture through a matrix (WarpStep)
  kElastic,  // through a smooth random field (WarpStep)
  kFrame,    // the colour n[4] to n[6] beyond columns n[0] to n[2] - 1 and rows n[1] to n[3] - 1
  // Mixtures of several pictures (mixture_meaning.h).
  kKeep,
  kRecall,
  kWeightedSum,
  kTowards,
};

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
  kNothing,     // but facts are derived from the step
  kMeans,       // of each channel
  kGreyMean,    // of torchvision's grey, which then stands for each channel
  kExtremes,    // of each channel
  kHistograms,  // of each channel: they serve as extremes, too
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

constexpr int kBlurUnit = 8;

/// By PictureKind. Only the host has this table: device code that looks into it would be compiled to a trap.
inline constexpr auto kPictureTraits = std::to_array<PictureTraits>({
    {.kind = PictureKind::kAffine, .run = true},
    {.kind = PictureKind::kContrast, .run = true, .statistic = PictureStatistic::kMeans},
    {.kind = PictureKind::kSaturation, .run = true},
    {.kind = PictureKind::kMatrix, .run = true},
    {.kind = PictureKind::kTorchvisionBrightness, .statistic = PictureStatistic::kNothing},
    {.kind = PictureKind::kTorchvisionContrast, .statistic = PictureStatistic::kGreyMean},
    {.kind = PictureKind::kTorchvisionSaturation},
    {.kind = PictureKind::kTorchvisionHue},
    {.kind = PictureKind::kTorchvisionGrayscale},
    {.kind = PictureKind::kInvert},
    {.kind = PictureKind::kPosterize},
    {.kind = PictureKind::kSolarize},
    {.kind = PictureKind::kSolarizeAdd},
    {.kind = PictureKind::kGamma, .statistic = PictureStatistic::kNothing},
    {.kind = PictureKind::kEqualize, .statistic = PictureStatistic::kHistograms},
    {.kind = PictureKind::kAutocontrast, .statistic = PictureStatistic::kExtremes},
    {.kind = PictureKind::kPermutation},
    {.kind = PictureKind::kBlurAcross, .unit = kBlurUnit},
    {.kind = PictureKind::kBlurDown, .unit = kBlurUnit},
    {.kind = PictureKind::kJpegCode, .unit = 16},
    {.kind = PictureKind::kJpegColor},
    {.kind = PictureKind::kSharpness, .reads_around = true},
    {.kind = PictureKind::kGaussianNoise},
    {.kind = PictureKind::kShotNoise},
    {.kind = PictureKind::kSaltAndPepper},
    {.kind = PictureKind::kWarp, .reads_around = true},
    {.kind = PictureKind::kElastic, .reads_around = true},
    {.kind = PictureKind::kFrame},
    {.kind = PictureKind::kKeep},
    {.kind = PictureKind::kRecall},
    {.kind = PictureKind::kWeightedSum},
    {.kind = PictureKind::kTowards},
});
constexpr std::size_t kPictureKinds = kPictureTraits.size();
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
  /// Keeps the first ones.
  void shorten(std::size_t count) { count_ = static_cast<int>(count); }
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
