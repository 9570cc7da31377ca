#include "stoker/ops/mix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/base/hash.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

constexpr int kDraws = 100'000;
constexpr ImageSize kSize{224, 160};

std::vector<MixDraw> drawn(const OperatorCall& call, int draws = kDraws, ImageSize size = kSize) {
  const auto op = std::get<BatchFunction>(find_operator(call.name).function)(check_call(call));
  std::vector<MixDraw> all;
  for (int i = 0; i < draws; ++i) {
    Random random(3, 0, static_cast<std::uint64_t>(i), 9);
    all.push_back(op->draw(random, size));
  }
  return all;
}

// Of the beta distribution with both shapes alpha.
double beta_cdf(double alpha, double x) {
  if (alpha == 0.5) return 2 * std::asin(std::sqrt(x)) / std::acos(-1.0);
  return alpha == 1 ? x : x * x * (3 - 2 * x);  // alpha 2
}

double share_inside(const MixDraw& mix, ImageSize size, int partner) {
  int inside = 0;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) inside += partner_at(mix, x, y) == partner ? 1 : 0;
  }
  return static_cast<double>(inside) / (size.width * size.height);
}

TEST(Mix, MixupDrawsItsShareFromTheBetaDistribution) {
  for (const double alpha : {0.5, 1.0, 2.0}) {
    std::vector<double> shares;
    for (const MixDraw& mix : drawn({"mixup", {{"alpha", alpha}}})) {
      shares.push_back(static_cast<double>(mix.weight[0]));
      EXPECT_EQ(mix.weight[1], 1.0f - mix.weight[0]);
    }
    EXPECT_LT(kolmogorov_smirnov(shares, [&](double x) { return beta_cdf(alpha, x); }), kKolmogorovSmirnovMax) << alpha;
  }
}

// Of a picture so large that rounding is not seen, and with alpha 1: the side of a box is the root of a uniform number,
// and nothing of it is cut off with the probability (1 - side)^2.
TEST(Mix, CutmixDrawsTheSideOfItsBoxAndItsCentre) {
  constexpr int kSide = 60'000;
  std::vector<double> sides, across, down;
  for (const MixDraw& mix : drawn({"cutmix", {}}, kDraws, {kSide, kSide})) {
    if (mix.left == 0 || mix.top == 0 || mix.right == kSide || mix.bottom == kSide) continue;
    EXPECT_EQ(mix.right - mix.left, mix.bottom - mix.top);
    const double side = mix.right - mix.left;
    sides.push_back(side / kSide);
    across.push_back(mix.left / (kSide - side));
    down.push_back(mix.top / (kSide - side));
  }
  EXPECT_NEAR(static_cast<double>(sides.size()) / kDraws, 1.0 / 6, 0.005);
  const auto side_cdf = [](double s) { return s * s * (6 - 8 * s + 3 * s * s); };
  const auto uniform_cdf = [](double x) { return x; };
  EXPECT_LT(kolmogorov_smirnov(sides, side_cdf), kKolmogorovSmirnovMax);
  EXPECT_LT(kolmogorov_smirnov(across, uniform_cdf), kKolmogorovSmirnovMax);
  EXPECT_LT(kolmogorov_smirnov(down, uniform_cdf), kKolmogorovSmirnovMax);
}

TEST(Mix, CutmixWeighsLabelsByTheExactNumberOfPixels) {
  for (const ImageSize size : {ImageSize{33, 20}, {1, 1}, {1, 50}, {64, 64}}) {
    int pasted = 0;
    for (const MixDraw& mix : drawn({"cutmix", {}}, 300, size)) {
      const auto share = static_cast<float>(1 - share_inside(mix, size, 1));
      EXPECT_EQ(mix.weight[0], share);
      EXPECT_EQ(mix.weight[1], 1.0f - share);
      EXPECT_EQ(mix.kind == MixDraw::Kind::kKeep, share == 1.0f) << "an empty box leaves the sample as it is";
      pasted += mix.kind == MixDraw::Kind::kPaste ? 1 : 0;
      EXPECT_TRUE(mix.left >= 0 && mix.right <= size.width && mix.top >= 0 && mix.bottom <= size.height);
    }
    EXPECT_EQ(pasted > 200, size.width > 1);
  }
}

TEST(Mix, HappensWithItsProbability) {
  const auto share = [](const OperatorCall& call, MixDraw::Kind kind) {
    int count = 0;
    for (const MixDraw& mix : drawn(call)) count += mix.kind == kind ? 1 : 0;
    return static_cast<double>(count) / kDraws;
  };
  using enum MixDraw::Kind;
  EXPECT_NEAR(share({"mixup", {{"p", 0.3}}}, kBlend), 0.3, 0.01);
  EXPECT_EQ(share({"mixup", {{"p", 0.0}}}, kKeep), 1);
  EXPECT_NEAR(share({"cutmix", {{"p", 0.3}}}, kKeep), 0.7, 0.01);
  EXPECT_NEAR(share({"mosaic", {{"p", 0.4}}}, kQuarters), 0.4, 0.01);
  const OperatorCall either{"mixup_or_cutmix", {{"switch_prob", 0.25}, {"prob", 0.8}}};
  EXPECT_NEAR(share(either, kBlend), 0.6, 0.01);
  EXPECT_NEAR(share(either, kPaste), 0.2, 0.01);
  EXPECT_EQ(share({"mixup_or_cutmix", {{"switch_prob", 0.0}}}, kPaste), 0);
}

TEST(Mix, MosaicWeighsLabelsByTheAreasOfItsParts) {
  std::vector<double> across;
  for (const MixDraw& mix : drawn({"mosaic", {}}, 2000, {40, 30})) {
    ASSERT_EQ(mix.kind, MixDraw::Kind::kQuarters);
    across.push_back((mix.left + 0.0) / 40);
    for (int k = 0; k < kMixGroupMax; ++k) {
      EXPECT_EQ(mix.weight[k], static_cast<float>(share_inside(mix, {40, 30}, k))) << k;
    }
  }
  // Rounded to 41 places.
  EXPECT_LT(kolmogorov_smirnov(across, [](double x) { return std::min(x + 0.5 / 40, 1.0); }), kKolmogorovSmirnovMax);
}

TEST(Mix, MovesPlacesInProportionToPicturesOfAnotherSize) {
  const MixDraw mix{.kind = MixDraw::Kind::kPaste, .left = 10, .top = 20, .right = 40, .bottom = 30};
  const MixDraw half = scaled(mix, {40, 40}, {20, 13});
  EXPECT_EQ(half.left, 5);
  EXPECT_EQ(half.right, 20);
  EXPECT_EQ(half.top, 6);
  EXPECT_EQ(half.bottom, 9);
}

// The golden hash of an operator: of what it drew a thousand times. It changes only with kSemanticsVersion.
TEST(Mix, KeepsTheGoldenDrawsOfEveryOperator) {
  const auto hash_of = [](const OperatorCall& call) {
    Hasher64 hasher;
    for (const MixDraw& mix : drawn(call, 1000)) {
      const std::string text =
          fmt::format("{} {} {} {} {} {} {} {} {};", static_cast<int>(mix.kind), mix.left, mix.top, mix.right,
                      mix.bottom, bits_of_f32(mix.weight[0]), bits_of_f32(mix.weight[1]), bits_of_f32(mix.weight[2]),
                      bits_of_f32(mix.weight[3]));
      hasher.update(as_bytes(text));
    }
    return to_hex(hasher.digest());
  };
  EXPECT_EQ(hash_of({"mixup", {{"alpha", 0.2}}}), "0e62d05fbec75158");
  EXPECT_EQ(hash_of({"cutmix", {}}), "b23225947ab92652");
  EXPECT_EQ(hash_of({"mixup_or_cutmix", {}}), "9635a8c5435def6e");
  EXPECT_EQ(hash_of({"mosaic", {}}), "e91e762ed070d394");
}

}  // namespace
}  // namespace stoker
