#include "stoker/ops/picture/warp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <vector>

#include "stoker/base/fit_testing.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

constexpr ImageSize kSize{400, 300};
constexpr int kDraws = 100'000;

std::unique_ptr<PictureOperator> made(const OperatorCall& call) {
  return std::get<PictureFunction>(find_operator(call.name).function)(check_call(call));
}

PlaneMap map_of_step(const PictureStep& step) {
  PlaneMap map;
  std::copy_n(step.f + WarpStep::kMatrix, map.m.size(), map.m.begin());
  return map;
}

// The steps that the call draws for one picture.
std::vector<PictureStep> drawn(const PictureOperator& op, std::uint64_t position, ImageSize size = kSize) {
  Random random(5, 0, position, 0);
  PictureSteps steps;
  op.draw(random, size, steps);
  return {steps.all().begin(), steps.all().end()};
}

std::vector<double> sampled(const OperatorCall& call, const std::function<double(const PlaneMap&)>& value) {
  const auto op = made(call);
  std::vector<double> samples;
  for (std::uint64_t position = 0; position < kDraws; ++position) {
    samples.push_back(value(map_of_step(drawn(*op, position).at(0))));
  }
  return samples;
}

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

// `step` is the distance of the values that are drawn, 0 if all are.
std::function<double(double)> uniform(double low, double high, double step = 0) {
  return [=](double x) { return std::clamp((x + step / 2 - low) / (high - low), 0.0, 1.0); };
}

// A test that a range wider by a fiftieth, or shifted by as much, would not pass.
void expect_uniform(const std::vector<double>& samples, double low, double high, double step = 0) {
  EXPECT_LT(kolmogorov_smirnov(samples, uniform(low, high, step)), kKolmogorovSmirnovMax);
  const double more = (high - low) / 50;
  EXPECT_GT(kolmogorov_smirnov(samples, uniform(low - more, high, step)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(samples, uniform(low, high + more, step)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(samples, uniform(low + more, high + more, step)), kKolmogorovSmirnovMax);
}

PlanePoint mapped(const PlaneMap& map, PlanePoint p) {
  const auto& m = map.m;
  const double w = m[6] * p.x + m[7] * p.y + m[8];
  return {(m[0] * p.x + m[1] * p.y + m[2]) / w, (m[3] * p.x + m[4] * p.y + m[5]) / w};
}

PlaneMap inverse(const PlaneMap& map) {
  const auto& [a, b, c, d, e, f, g, h, i] = map.m;
  return {{e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g,
           b * g - a * h, a * e - b * d}};
}

TEST(RandomRotation, DrawsAnglesUniformly) {
  const auto angle = [](const PlaneMap& map) { return degrees(std::atan2(-map.m[1], map.m[0])); };
  expect_uniform(sampled({"random_rotation", {{"degrees", 30.0}}}, angle), -30, 30);
  expect_uniform(sampled({"random_rotation", {{"degrees", Numbers{-20, 100}}}}, angle), -20, 100);
  expect_uniform(sampled({"rotate", {{"degrees", Numbers{10, 15}}}}, angle), 10, 15);
}

TEST(RandomAffine, DrawsAnglesUniformly) {
  expect_uniform(sampled({"random_affine", {{"degrees", Numbers{-20, 40}}}},
                         [](const PlaneMap& map) { return degrees(std::atan2(map.m[1], map.m[0])); }),
                 -20, 40);
}

TEST(RandomAffine, DrawsWholeShiftsUniformly) {
  const OperatorCall call{"random_affine", {{"degrees", 0.0}, {"translate", Numbers{0.5, 0.7}}}};
  expect_uniform(sampled(call, [](const PlaneMap& map) { return -map.m[2]; }), -200, 200, 1);
  expect_uniform(sampled(call, [](const PlaneMap& map) { return -map.m[5]; }), -210, 210, 1);
  for (const double shift : sampled(call, [](const PlaneMap& map) { return map.m[2]; })) {
    ASSERT_EQ(shift, std::round(shift));
  }
}

TEST(RandomAffine, DrawsScalesUniformly) {
  expect_uniform(sampled({"random_affine", {{"degrees", 0.0}, {"scale", Numbers{0.5, 2}}}},
                         [](const PlaneMap& map) { return 1 / map.m[0]; }),
                 0.5, 2);
}

TEST(RandomAffine, DrawsShearsUniformly) {
  const auto along_x = [](const PlaneMap& map) { return degrees(std::atan(map.m[1])); };
  const auto along_y = [](const PlaneMap& map) { return degrees(std::atan(map.m[3])); };
  const OperatorCall both{"random_affine", {{"degrees", 0.0}, {"shear", Numbers{-20, 30, -5, 15}}}};
  expect_uniform(sampled(both, along_x), -20, 30);
  expect_uniform(sampled(both, along_y), -5, 15);
  const OperatorCall one{"random_affine", {{"degrees", 0.0}, {"shear", 25.0}}};
  expect_uniform(sampled(one, along_x), -25, 25);
  EXPECT_THAT(sampled(one, along_y), testing::Each(0.0));
}

TEST(ShearAndTranslate, DrawUniformly) {
  const auto number = [](std::size_t i) { return [i](const PlaneMap& map) { return map.m[i]; }; };
  expect_uniform(sampled({"shear_x", {{"factor", Numbers{-0.3, 0.3}}}}, number(1)), -0.3, 0.3);
  expect_uniform(sampled({"shear_y", {{"factor", Numbers{0, 0.2}}}}, number(3)), 0, 0.2);
  expect_uniform(sampled({"translate_x", {{"pixels", Numbers{-9, 3}}}}, number(2)), -3, 9);
  expect_uniform(sampled({"translate_y", {{"fraction", Numbers{-0.5, 0.1}}}}, number(5)), -30, 150);
}

// How far each corner has moved inwards, and how often; the picture is small, so that all ways occur often.
std::vector<std::map<int, int>> corner_moves(const OperatorCall& call, ImageSize size) {
  const auto op = made(call);
  std::vector<std::map<int, int>> moves(8);
  for (std::uint64_t position = 0; position < kDraws; ++position) {
    const PlaneMap to = inverse(map_of_step(drawn(*op, position, size).at(0)));
    const double right = size.width - 1, bottom = size.height - 1;
    const PlanePoint corners[] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    for (std::size_t i = 0; i < 4; ++i) {
      const PlanePoint moved = mapped(to, {corners[i].x - 0.5, corners[i].y - 0.5});
      ++moves[2 * i][static_cast<int>(std::lround(std::abs(moved.x + 0.5 - corners[i].x)))];
      ++moves[2 * i + 1][static_cast<int>(std::lround(std::abs(moved.y + 0.5 - corners[i].y)))];
    }
  }
  return moves;
}

TEST(RandomPerspective, MovesCornersUniformly) {
  const OperatorCall call{"random_perspective", {{"distortion_scale", 0.6}, {"p", 1.0}}};
  const std::vector<std::map<int, int>> moves = corner_moves(call, {81, 61});
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const int most = i % 2 == 0 ? 24 : 18;  // 0.6 of half the side
    EXPECT_EQ(moves[i].begin()->first, 0);
    EXPECT_EQ(moves[i].rbegin()->first, most);
    std::vector<int> counts;
    for (int way = 0; way <= most + 1; ++way) counts.push_back(moves[i].contains(way) ? moves[i].at(way) : 0);
    std::vector<double> wider(counts.size(), 1.0 / static_cast<double>(counts.size()));
    EXPECT_GT(chi_squared_excess(counts, wider), kChiSquaredExcessMax);
    counts.pop_back();
    const std::vector<double> right(counts.size(), 1.0 / static_cast<double>(counts.size()));
    EXPECT_LT(chi_squared_excess(counts, right), kChiSquaredExcessMax);
  }
}

TEST(RandomPerspective, LeavesPicturesAsTheyAreWithTheRightProbability) {
  const auto op = made({"random_perspective", {{"p", 0.3}}});
  int warped = 0;
  for (std::uint64_t position = 0; position < kDraws; ++position) warped += !drawn(*op, position).empty();
  EXPECT_NEAR(warped, 0.3 * kDraws, 4 * std::sqrt(0.21 * kDraws));
}

TEST(RandomPerspective, LeavesPicturesOfOneRowAsTheyAre) {
  const auto op = made({"random_perspective", {{"p", 1.0}}});
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{50, 1}, ImageSize{1, 50}}) {
    EXPECT_TRUE(drawn(*op, 3, size).empty());
  }
}

TEST(ElasticNoise, HasTheMomentsThatItsGainCountsOn) {
  double sum[2] = {}, squares[2] = {}, product = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ElasticField::Noise noise = ElasticField::noise(99, i % 317, i / 317);
    sum[0] += noise.x;
    sum[1] += noise.y;
    squares[0] += double{noise.x} * noise.x;
    squares[1] += double{noise.y} * noise.y;
    product += double{noise.x} * noise.y;
  }
  const double variance = 8 * (256.0 * 256 - 1) / 12, error = std::sqrt(variance / kDraws);
  for (int axis = 0; axis < 2; ++axis) {
    EXPECT_NEAR(sum[axis] / kDraws, 0, 4 * error);
    EXPECT_NEAR(squares[axis] / kDraws / variance, 1, 4 * std::sqrt(2.0 / kDraws));
  }
  EXPECT_NEAR(product / kDraws / variance, 0, 4 / std::sqrt(kDraws));
}

TEST(ElasticTaps, SumToOneAndHaveTheMeanSquareThatTheGainCountsOn) {
  double squares = 0;
  constexpr int kPixels = 10'000;
  for (int x = 0; x < kPixels; ++x) {
    const ElasticField::Taps taps = ElasticField::taps(0.137281f, x);
    double sum = 0;
    for (const float weight : taps.weight) {
      sum += weight;
      squares += double{weight} * weight;
    }
    ASSERT_NEAR(sum, 1, 1e-6);
    ASSERT_EQ(taps.first, static_cast<int>(static_cast<float>(x) * 0.137281f));
  }
  EXPECT_NEAR(squares / kPixels, 151.0 / 315, 1e-4);
}

TEST(PlaneMap, OfPointsMapsThem) {
  const std::array<PlanePoint, 4> from = {{{0, 0}, {223, 3}, {201, 190}, {-7, 211}}};
  const std::array<PlanePoint, 4> to = {{{13, 40}, {180, 0}, {230, 235}, {0, 100}}};
  const std::optional<PlaneMap> map = PlaneMap::of_points(from, to);
  ASSERT_TRUE(map);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mapped(*map, from[i]).x, to[i].x, 1e-9);
    EXPECT_NEAR(mapped(*map, from[i]).y, to[i].y, 1e-9);
  }
}

TEST(PlaneMap, OfPointsOnALineDoesNotExist) {
  const std::array<PlanePoint, 4> square = {{{0, 0}, {10, 0}, {10, 10}, {0, 10}}};
  EXPECT_FALSE(PlaneMap::of_points({{{0, 0}, {5, 5}, {10, 10}, {0, 10}}}, square));
  EXPECT_FALSE(PlaneMap::of_points({{{3, 3}, {3, 3}, {10, 10}, {0, 10}}}, square));
  EXPECT_TRUE(PlaneMap::of_points(square, square));
}

PictureSteps two_warps(const OperatorCall& first, const OperatorCall& second) {
  PictureSteps steps;
  for (const OperatorCall& call : {first, second}) {
    Random random(1, 2, 3, 4);
    made(call)->draw(random, kSize, steps);
  }
  return steps;
}

TEST(ComposeWarps, MakesOneStepThatReadsThroughBoth) {
  const OperatorCall turn{"rotate", {{"degrees", 25.0}}}, shift{"translate_x", {{"pixels", 40.0}}};
  PictureSteps steps = two_warps(turn, shift);
  const PlaneMap first = map_of_step(steps.all()[0]), second = map_of_step(steps.all()[1]);
  compose_warps(steps);
  ASSERT_EQ(steps.all().size(), 1U);
  // The shifted picture shows at (100, 50) what the turned one has at (60, 50).
  const PlanePoint want = mapped(first, mapped(second, {100, 50})),
                   got = mapped(map_of_step(steps.all()[0]), {100, 50});
  EXPECT_NEAR(mapped(second, {100, 50}).x, 60, 1e-6);
  EXPECT_NEAR(got.x, want.x, 1e-4);
  EXPECT_NEAR(got.y, want.y, 1e-4);
}

TEST(ComposeWarps, KeepsStepsApartThatReadOrFillDifferentlyOrStandAlone) {
  const OperatorCall turn{"rotate", {{"degrees", 25.0}}};
  const auto count = [](PictureSteps steps) {
    compose_warps(steps);
    return steps.all().size();
  };
  EXPECT_EQ(count(two_warps(turn, turn)), 1U);
  EXPECT_EQ(count(two_warps(turn, {"rotate", {{"degrees", 25.0}, {"filter", "bilinear"}}})), 2U);
  EXPECT_EQ(count(two_warps(turn, {"rotate", {{"degrees", 25.0}, {"fill", 1.0}}})), 2U);
  EXPECT_EQ(count(two_warps({"elastic", {}}, {"elastic", {}})), 2U);
  for (const std::size_t alone : {0U, 1U}) {
    PictureSteps steps = two_warps(turn, turn);
    steps.all()[alone].alone = true;
    EXPECT_EQ(count(steps), 2U);
  }
  PictureSteps steps = two_warps(turn, {"invert", {}});
  Random random(1, 2, 3, 4);
  made(turn)->draw(random, kSize, steps);
  EXPECT_EQ(count(steps), 3U);
}

}  // namespace
}  // namespace stoker
