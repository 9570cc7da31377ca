// What policies draw: the operators as often, and the magnitudes as distributed, as their authors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/fit_testing.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/picture_mixture.h"
#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/timm_action.h"
#include "stoker/ops/picture/timm_spec.h"
#include "stoker/ops/picture/torchvision_space.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr int kDraws = 100'000;
constexpr ImageSize kSize{200, 100};

OperatorCall timm(const std::string& spec) { return {"timm_augment", {{"spec", spec}}}; }

// Calls `action` with the steps of each of kDraws draws.
template <class Action>
void for_each_draw(const OperatorCall& call, const Action& action) {
  const auto op = make_picture_operator(check_call(call));
  PictureSteps steps;
  for (int i = 0; i < kDraws; ++i) {
    steps.clear();
    Random random(5, 0, static_cast<std::uint64_t>(i), 1);
    op->draw(random, kSize, steps);
    const std::span<const PictureStep> drawn = std::as_const(steps).all();
    ASSERT_LE(static_cast<int>(drawn.size()), op->bounds().steps);
    action(drawn);
  }
}

// How often each kind of step came, and how often none.
struct DrawnKinds {
  std::map<PictureKind, int> steps;
  int nothing = 0;

  explicit DrawnKinds(const OperatorCall& call) {
    for_each_draw(call, [&](std::span<const PictureStep> drawn) {
      nothing += drawn.empty() ? 1 : 0;
      for (const PictureStep& step : drawn) ++steps[step.kind];
    });
  }
  /// Shares of all steps, by kind; any other kind would be one too many.
  double excess(const std::map<PictureKind, double>& shares) const {
    std::map<PictureKind, double> left = shares;
    std::vector<int> counts;
    std::vector<double> expected;
    for (const auto& [kind, count] : steps) {
      counts.push_back(count);
      expected.push_back(left[kind]);
      left.erase(kind);
    }
    for (const auto& [kind, share] : left) {
      counts.push_back(0);
      expected.push_back(share);
    }
    return chi_squared_excess(counts, expected);
  }
};

constexpr PictureKind kWarps = PictureKind::kWarp;

TEST(Policies, RandAugmentDrawsItsFourteenOperatorsEquallyOften) {
  const DrawnKinds drawn({"rand_augment", {{"num_ops", 1.0}}});
  EXPECT_NEAR(drawn.nothing, kDraws / 14, 400);
  EXPECT_LT(drawn.excess({{kWarps, 5.0 / 13},
                          {PictureKind::kTorchvisionBrightness, 1.0 / 13},
                          {PictureKind::kTorchvisionContrast, 1.0 / 13},
                          {PictureKind::kTorchvisionSaturation, 1.0 / 13},
                          {PictureKind::kSharpness, 1.0 / 13},
                          {PictureKind::kPosterize, 1.0 / 13},
                          {PictureKind::kSolarize, 1.0 / 13},
                          {PictureKind::kAutocontrast, 1.0 / 13},
                          {PictureKind::kEqualize, 1.0 / 13}}),
            kChiSquaredExcessMax);
}

TEST(Policies, TrivialAugmentDrawsEveryMagnitudeEquallyOften) {
  constexpr int kBins = 31;
  std::vector<int> solarize(kBins, 0), brightness(kBins, 0);
  for_each_draw({"trivial_augment_wide", {}}, [&](std::span<const PictureStep> drawn) {
    if (drawn.empty()) return;
    const PictureStep& step = drawn.front();
    if (step.kind == PictureKind::kSolarize) ++solarize[static_cast<std::size_t>(30 - (step.n[0] + 4) * 30 / 255)];
    if (step.kind == PictureKind::kTorchvisionBrightness) {
      ++brightness[static_cast<std::size_t>(std::lround(std::abs(step.f[0] - 1) / 0.99 * 30))];
    }
  });
  const std::vector<double> even(kBins, 1.0 / kBins);
  EXPECT_LT(chi_squared_excess(brightness, even), kChiSquaredExcessMax);
  EXPECT_LT(chi_squared_excess(solarize, even), kChiSquaredExcessMax);
}

TEST(Policies, AutoAugmentDrawsItsPairsEquallyOften) {
  // Of the 25 pairs for CIFAR-10 four begin or end with invert, with these probabilities: 0.1, 0, 0.1.
  const DrawnKinds drawn({"auto_augment", {{"policy", std::string("cifar10")}}});
  EXPECT_NEAR(drawn.steps.at(PictureKind::kInvert), 0.2 / 25 * kDraws, 120);
  // Posterize once, with 0.3; brightness with 0.6, 0.7, 0.9, 0.1.
  EXPECT_NEAR(drawn.steps.at(PictureKind::kPosterize), 0.3 / 25 * kDraws, 150);
  EXPECT_NEAR(drawn.steps.at(PictureKind::kTorchvisionBrightness), 2.3 / 25 * kDraws, 400);
}

TEST(Policies, HaveTorchvisionsMagnitudes) {
  const auto amount = [](std::span<const TorchvisionChoice> space, PolicyOp op, int bin, int bins) {
    for (const TorchvisionChoice& choice : space) {
      if (choice.op == op) return choice.action(bin, bins, false, kSize).amount;
    }
    return -1.0;
  };
  EXPECT_EQ(amount(rand_augment_space(), PolicyOp::kTranslateX, 9, 31), 27);  // 200 * 150 / 331 * 9 / 30
  EXPECT_EQ(amount(rand_augment_space(), PolicyOp::kPosterize, 9, 31), 7);
  EXPECT_EQ(amount(rand_augment_space(), PolicyOp::kPosterize, 30, 31), 4);
  EXPECT_EQ(amount(trivial_augment_space(), PolicyOp::kTranslateY, 15, 31), 15);  // of 15.999999
  EXPECT_EQ(amount(trivial_augment_space(), PolicyOp::kPosterize, 30, 31), 2);
  EXPECT_EQ(amount(trivial_augment_space(), PolicyOp::kSolarize, 0, 31), 255);
  EXPECT_NEAR(amount(trivial_augment_space(), PolicyOp::kSharpness, 30, 31), 1.99, 1e-6);
  EXPECT_EQ(amount(aug_mix_space(), PolicyOp::kPosterize, 9, 10), 0);
  EXPECT_EQ(amount(aug_mix_space(), PolicyOp::kTranslateY, 9, 10), 33);
  EXPECT_NEAR(amount(auto_augment_space(), PolicyOp::kShearX, 9, 10), 0.3, 1e-6);
}

TEST(Policies, AugMixDrawsDepthsAndWeights) {
  std::vector<double> original, first;
  std::array<int, 5> depths{};  // of both chains together, from 2 on
  for_each_draw({"aug_mix", {{"mixture_width", 2.0}, {"alpha", 0.5}}}, [&](std::span<const PictureStep> drawn) {
    const PictureStep& sum = drawn.back();
    ASSERT_EQ(sum.kind, PictureKind::kWeightedSum);
    ASSERT_NEAR(sum.f[0] + sum.f[1] + sum.f[2], 1, 1e-6);
    original.push_back(sum.f[0]);
    first.push_back(sum.f[1] / (sum.f[1] + sum.f[2]));
    ++depths.at(drawn.size() - 4 - 2);  // two pictures are kept, one is recalled, all are summed up
  });
  // Beta(1/2, 1/2) is the arcsine distribution.
  const auto arcsine = [](double x) { return 2 / std::acos(-1.0) * std::asin(std::sqrt(std::clamp(x, 0.0, 1.0))); };
  EXPECT_LT(kolmogorov_smirnov(original, arcsine), kKolmogorovSmirnovMax);
  EXPECT_LT(chi_squared_excess(depths, std::array{1.0 / 9, 2.0 / 9, 3.0 / 9, 2.0 / 9, 1.0 / 9}), kChiSquaredExcessMax);
  std::erase_if(first, [](double x) { return std::isnan(x); });
  EXPECT_LT(kolmogorov_smirnov(first, arcsine), kKolmogorovSmirnovMax);
}

TEST(Policies, TimmChoosesOperatorsByProbability) {
  // Fifteen operators; each of two layers is left out half of the times.
  const DrawnKinds even(timm("rand-m9-inc1"));
  EXPECT_NEAR(even.nothing, kDraws / 4, 700);
  const double share = 1.0 / 15;
  EXPECT_LT(even.excess({{kWarps, 5 * share},
                         {PictureKind::kTorchvisionBrightness, share},
                         {PictureKind::kTorchvisionContrast, share},
                         {PictureKind::kTorchvisionSaturation, share},
                         {PictureKind::kSharpness, share},
                         {PictureKind::kPosterize, share},
                         {PictureKind::kSolarize, share},
                         {PictureKind::kSolarizeAdd, share},
                         {PictureKind::kAutocontrast, share},
                         {PictureKind::kEqualize, share},
                         {PictureKind::kInvert, share}}),
            kChiSquaredExcessMax);
  // The weights of the set 3aw sum up to 33, and blur, of weight 6, takes two steps.
  const DrawnKinds weighted(timm("rand-n1-p1-t3aw"));
  EXPECT_LT(weighted.excess({{kWarps, 7.0 / 39},
                             {PictureKind::kBlurAcross, 6.0 / 39},
                             {PictureKind::kBlurDown, 6.0 / 39},
                             {PictureKind::kTorchvisionBrightness, 1.0 / 39},
                             {PictureKind::kTorchvisionContrast, 1.0 / 39},
                             {PictureKind::kTorchvisionSaturation, 7.0 / 39},
                             {PictureKind::kSharpness, 1.0 / 39},
                             {PictureKind::kPosterize, 1.0 / 39},
                             {PictureKind::kSolarize, 6.0 / 39},
                             {PictureKind::kAutocontrast, 1.0 / 39},
                             {PictureKind::kEqualize, 1.0 / 39},
                             {PictureKind::kInvert, 1.0 / 39}}),
            kChiSquaredExcessMax);
  for_each_draw(timm("rand-n14-p1-t3aw"), [](std::span<const PictureStep> drawn) {
    ASSERT_EQ(drawn.size(), 15u) << "each of fourteen operators once, and blur takes two steps";
  });
}

TEST(Policies, TimmDrawsMagnitudesAroundItsOwn) {
  const auto amounts = [](const TimmLevels& levels, TimmOp op, double magnitude) {
    std::vector<double> drawn;
    for (int i = 0; i < kDraws; ++i) {
      Random random(6, 0, static_cast<std::uint64_t>(i), 1);
      drawn.push_back(levels.draw(op, magnitude, random, kSize).amount);
    }
    return drawn;
  };
  const auto normal = [](double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); };
  // 0.18 of a factor per level, cut off at level 10.
  const TimmLevels around{.magnitude_std = 0.5};
  EXPECT_LT(kolmogorov_smirnov(amounts(around, TimmOp::kColor, 9),
                               [&](double x) {
                                 const double level = (x - 0.1) / 0.18;
                                 return level >= 10 - 1e-9 ? 1 : normal((level - 9) / 0.5);
                               }),
            kKolmogorovSmirnovMax);
  // Either sign of a part that is uniform.
  const TimmLevels uniform{.magnitude_std = TimmSpec::kUniform, .translate_part = 0.3};
  EXPECT_LT(kolmogorov_smirnov(amounts(uniform, TimmOp::kRotate, 6), [](double x) { return (x + 18) / 36; }),
            kKolmogorovSmirnovMax);
  EXPECT_LT(kolmogorov_smirnov(amounts(uniform, TimmOp::kTranslateXRel, 10), [](double x) { return (x + 60) / 120; }),
            kKolmogorovSmirnovMax);
  EXPECT_LT(
      kolmogorov_smirnov(amounts(uniform, TimmOp::kBrightnessIncreasing, 10), [](double x) { return (x - 0.1) / 1.8; }),
      kKolmogorovSmirnovMax);
  EXPECT_LT(kolmogorov_smirnov(amounts({}, TimmOp::kGaussianBlurRand, 10), [](double x) { return (x - 0.1) / 1.9; }),
            kKolmogorovSmirnovMax);
}

TEST(Policies, TimmsLevelsMeanWhatTimmSays) {
  const auto amount = [](TimmOp op, double magnitude, double most = 10) {
    Random random(7, 0, 0, 0);
    return TimmLevels{.magnitude_max = most}.draw(op, magnitude, random, kSize).amount;
  };
  EXPECT_EQ(amount(TimmOp::kPosterize, 9), 3);
  EXPECT_EQ(amount(TimmOp::kPosterizeIncreasing, 9), 1);
  EXPECT_EQ(amount(TimmOp::kPosterizeOriginal, 9), 7);
  EXPECT_EQ(amount(TimmOp::kPosterizeIncreasing, 30, 30), 0) << "no bits fewer than none";
  EXPECT_EQ(amount(TimmOp::kSolarize, 5), 128);
  EXPECT_EQ(amount(TimmOp::kSolarizeIncreasing, 10), 0);
  EXPECT_EQ(amount(TimmOp::kSolarizeAdd, 9), 99);
  EXPECT_EQ(amount(TimmOp::kSolarizeAdd, 30, 30), 128);
  EXPECT_DOUBLE_EQ(amount(TimmOp::kSharpness, 9), 1.72);
  EXPECT_EQ(amount(TimmOp::kDesaturate, 10), 0);
  EXPECT_DOUBLE_EQ(amount(TimmOp::kGaussianBlur, 10), 2);
  EXPECT_DOUBLE_EQ(std::abs(amount(TimmOp::kShearX, 20)), 0.3) << "magnitudes end at 10";
  EXPECT_DOUBLE_EQ(std::abs(amount(TimmOp::kTranslateYRel, 10)), 45);
}

TEST(TimmSpec, ReadsWhatTimmReads) {
  const TimmSpec rand = TimmSpec::parse("rand-m9-mstd0.5-inc1");
  EXPECT_EQ(rand.policy, TimmSpec::Policy::kRand);
  EXPECT_EQ(rand.magnitude, 9);
  EXPECT_EQ(rand.magnitude_std, 0.5);
  EXPECT_TRUE(rand.increasing);
  EXPECT_EQ(rand.layers, 2);
  EXPECT_EQ(rand.p, 0.5);
  EXPECT_EQ(TimmSpec::parse("rand-mstd101-mmax30").magnitude_std, TimmSpec::kUniform);
  EXPECT_EQ(TimmSpec::parse("rand-mstd101-mmax30").magnitude_max, 30);
  EXPECT_EQ(TimmSpec::parse("rand-tweights-n3-p0.25").name, "weights");
  const TimmSpec mix = TimmSpec::parse("augmix-m5-w4-d2-a0.5-b1");
  EXPECT_EQ(mix.policy, TimmSpec::Policy::kAugMix);
  EXPECT_EQ(mix.magnitude, 5);
  EXPECT_EQ(mix.magnitude_std, TimmSpec::kUniform);
  EXPECT_EQ(mix.width, 4);
  EXPECT_EQ(mix.depth, 2);
  EXPECT_EQ(mix.alpha, 0.5);
  EXPECT_TRUE(mix.blended);
  EXPECT_EQ(TimmSpec::parse("originalr-mstd0.5").name, "originalr");
}

TEST(TimmSpec, RefusesTheRestWithASentence) {
  const auto refusal = [](const char* spec) {
    const Error error = error_of([&] { make_picture_operator(check_call(timm(spec))); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal("ramd-m9"), HasSubstr("'ramd' is not a policy (did you mean 'rand'?)"));
  EXPECT_THAT(refusal(""), HasSubstr("'' is not a policy"));
  EXPECT_THAT(refusal("rand-x3"), HasSubstr("'x' is not a section"));
  EXPECT_THAT(refusal("rand-m9-"), HasSubstr("'' is not a section"));
  EXPECT_THAT(refusal("rand-inc"), HasSubstr("inc needs a number"));
  EXPECT_THAT(refusal("rand-m9.5"), HasSubstr("m is 9.5, but must be a whole number from 0 to 1000"));
  EXPECT_THAT(refusal("rand-p2"), HasSubstr("p is 2, but must be a number from 0 to 1"));
  EXPECT_THAT(refusal("rand-t3b"), HasSubstr("'3b' is not a set of operators (did you mean '3a'?)"));
  EXPECT_THAT(refusal("v0-m9"), HasSubstr("'m' is not a section"));
  EXPECT_THAT(refusal("rand-n16-tweights"), HasSubstr("has 15 operators, each drawn once at most"));
}

TEST(Policies, RefuseAMagnitudeBeyondTheBins) {
  const OperatorCall call{"rand_augment", {{"magnitude", 31.0}}};
  EXPECT_THAT(error_of([&] { make_picture_operator(check_call(call)); }).what(),
              HasSubstr("magnitude is 31, but must be below num_magnitude_bins, which is 31"));
}

}  // namespace
}  // namespace stoker
