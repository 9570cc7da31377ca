#include "stoker/ops/combination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/fit_testing.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Kind = Combination::Kind;

constexpr int kDraws = 100'000;

const OperatorCall kFlip = {"flip", {}};
const OperatorCall kFlipDown = {"flip", {{"axis", std::string("vertical")}}};
OperatorCall crop(double size) { return {"center_crop", {{"size", size}}}; }
OperatorCall resize(double height, double width) { return {"resize", {{"size", Numbers{height, width}}}}; }
OperatorCall pad(double padding) { return {"pad", {{"padding", padding}}}; }
OperatorCall combined(const char* name, OperatorCalls members) { return {name, {{"operators", std::move(members)}}}; }
std::unique_ptr<GeometryOperator> made(const OperatorCall& call) { return make_geometry_operator(check_call(call)); }

// How often each order of members came, as a text: "201".
std::map<std::string, int> draws_of(const Combination& combination) {
  std::map<std::string, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    Random random(1, 0, static_cast<std::uint64_t>(i), 7);
    std::string text;
    const Combination::Drawn drawn = combination.draw(random);
    for (const std::uint8_t member : drawn.members()) text += static_cast<char>('0' + member);
    ++counts[text];
  }
  return counts;
}

TEST(Combination, RunsMembersAsItsKindSays) {
  const OperatorCalls three = {kFlip, kFlip, kFlip};
  EXPECT_EQ(draws_of({Kind::kSequence, three, {}}), (std::map<std::string, int>{{"012", kDraws}}));
  EXPECT_EQ(draws_of({Kind::kApply, three, {1}}), (std::map<std::string, int>{{"012", kDraws}}));
  EXPECT_EQ(draws_of({Kind::kApply, three, {0}}), (std::map<std::string, int>{{"", kDraws}}));
  auto counts = draws_of({Kind::kApply, three, {0.8}});
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts["012"], 0.8 * kDraws, 500);
}

TEST(Combination, ChoosesByWeight) {
  auto counts = draws_of({Kind::kChoice, {kFlip, kFlip, kFlip, kFlip}, {2, 0, 1, 5}});
  EXPECT_LT(chi_squared_excess(std::array{counts["0"], counts["1"], counts["2"], counts["3"]},
                               std::array{0.25, 0.0, 0.125, 0.625}),
            kChiSquaredExcessMax);
}

TEST(Combination, DrawsEveryOrderEquallyOften) {
  const auto counts = draws_of({Kind::kOrder, {kFlip, kFlip, kFlip, kFlip}, {}});
  EXPECT_EQ(counts.size(), 24u);
  std::vector<int> observed;
  for (const auto& [order, count] : counts) observed.push_back(count);
  const std::vector<double> expected(observed.size(), 1.0 / 24);
  EXPECT_LT(chi_squared_excess(observed, expected), kChiSquaredExcessMax);
}

TEST(Combination, DrawsForAMemberByItsNameAndOccurrenceAlone) {
  const Combination one(Kind::kSequence, {crop(3), kFlip}, {});
  const Combination more(Kind::kOrder, {pad(1), crop(3), pad(2), kFlip, kFlip}, {});
  Random random(1, 2, 3, 4);
  const auto first = [&](const Combination& combination, std::size_t member) {
    return combination.random_of(random, member).next_u64();
  };
  const std::uint64_t of_crop = first(one, 0), of_flip = first(one, 1);
  random.next_u64();
  EXPECT_EQ(first(more, 1), of_crop);
  EXPECT_EQ(first(more, 3), of_flip);
  EXPECT_NE(first(more, 4), of_flip);
  EXPECT_NE(first(more, 0), first(more, 2));
}

TEST(GeometryCombination, ComposesTheMembersThatWereDrawn) {
  const auto op = made({"random_choice",
                        {{"operators", OperatorCalls{kFlip, kFlipDown, combined("sequence", {kFlip, kFlipDown})}},
                         {"p", Numbers{1, 1, 2}}}});
  std::array<int, 4> counts{};
  for (int i = 0; i < kDraws; ++i) {
    Random random(2, 0, static_cast<std::uint64_t>(i), 1);
    SamplingMap map = SamplingMap::identity(30, 20);
    op->apply(random, map);
    ++counts[static_cast<std::size_t>(map.x.mirrored() + 2 * map.y.mirrored())];
  }
  EXPECT_LT(chi_squared_excess(counts, std::array{0.0, 0.25, 0.25, 0.5}), kChiSquaredExcessMax);
}

TEST(GeometryCombination, KnowsItsSizeWhereNoDrawChangesIt) {
  const std::optional<ImageSize> unknown, image = ImageSize{40, 30}, eight = ImageSize{8, 8};
  EXPECT_EQ(made(combined("sequence", {resize(9, 9), crop(8)}))->output_size(unknown), eight);
  EXPECT_EQ(made(combined("random_choice", {crop(8), resize(8, 8)}))->output_size(unknown), eight);
  EXPECT_EQ(made(combined("random_choice", {crop(8), resize(8, 9)}))->output_size(unknown), std::nullopt);
  EXPECT_EQ(made(combined("random_apply", {crop(8)}))->output_size(unknown), std::nullopt);
  EXPECT_EQ(made(combined("random_apply", {crop(8)}))->output_size(eight), eight);
  EXPECT_EQ(made(combined("random_apply", {kFlip}))->output_size(image), image);
  EXPECT_EQ(made(combined("random_order", {kFlip, crop(8)}))->output_size(unknown), eight);
  EXPECT_EQ(made(combined("random_order", {kFlip, kFlipDown}))->output_size(image), image);
  EXPECT_EQ(made(combined("random_order", {crop(8), crop(9)}))->output_size(image), std::nullopt);
  EXPECT_EQ(made(combined("random_order", {crop(8), pad(1)}))->output_size(image), std::nullopt);
}

TEST(GeometryCombination, RefusesToResizeWhatItMayHavePadded) {
  for (const OperatorCall& call :
       {combined("sequence", {pad(1), resize(8, 8)}), combined("random_order", {resize(8, 8), pad(1)}),
        combined("sequence", {crop(9), combined("random_apply", {pad(1)}), resize(8, 8)})}) {
    const Error error = error_of([&] { made(call); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(kPaddingResized)) << to_string(call);
  }
  Geometry geometry;
  geometry.append(made(combined("random_choice", {kFlip, pad(1)})), 0);
  EXPECT_THAT(error_of([&] { geometry.append(made(resize(8, 8)), 1); }).what(), HasSubstr(kPaddingResized));
  Geometry cropped;
  cropped.append(made(combined("sequence", {pad(1), crop(9)})), 0);
  EXPECT_NO_THROW(cropped.append(made(combined("sequence", {crop(5), resize(8, 8)})), 1));
  Geometry by_chance;
  by_chance.append(made(pad(1)), 0);
  by_chance.append(made(combined("random_apply", {crop(9)})), 1);
  EXPECT_THAT(error_of([&] { by_chance.append(made(resize(8, 8)), 2); }).what(), HasSubstr(kPaddingResized));
}

TEST(GeometryCombination, RefusesPaddingOfTwoColoursAtOnce) {
  const auto chain = [](const std::vector<OperatorCall>& calls) {
    Geometry geometry;
    for (const OperatorCall& call : calls) geometry.append(made(call), 1);
  };
  const auto bordered = [](double fill) { return OperatorCall{"pad", {{"padding", 2.0}, {"fill", fill}}}; };
  const std::vector<std::vector<OperatorCall>> refused = {
      {bordered(1), bordered(2)},
      {bordered(1), kFlip, bordered(2)},
      {combined("sequence", {bordered(1), kFlip}), bordered(2)},
      {combined("sequence", {bordered(1), bordered(2)})},
      {bordered(1), combined("random_apply", {bordered(2)})},
      {combined("random_choice", {bordered(1), combined("sequence", {kFlip, bordered(1)})}), bordered(2)},
      {bordered(1), combined("random_choice", {kFlip, bordered(1)}), bordered(2)},
  };
  for (const std::vector<OperatorCall>& calls : refused) {
    const Error error = error_of([&] { chain(calls); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), kColorsOfPadding);
  }
  EXPECT_NO_THROW(chain({bordered(1), bordered(1)}));
  EXPECT_NO_THROW(chain({bordered(1), crop(4), bordered(2)}));
  EXPECT_NO_THROW(chain({combined("random_apply", {bordered(1)}), bordered(2)})) << "it depends on what is drawn";
  EXPECT_NO_THROW(chain({combined("random_choice", {bordered(1), bordered(2)})}));
  EXPECT_NO_THROW(chain({pad(0), bordered(2)}));
}

}  // namespace
}  // namespace stoker
