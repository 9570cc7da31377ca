#include "stoker/ops/geometry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "stoker/base/error_testing.h"
#include "stoker/base/fit_testing.h"
#include "stoker/base/hash.h"
#include "stoker/ops/combination.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/taps.h"

namespace stoker {
namespace {

Geometry chain(const std::vector<OperatorCall>& calls) {
  Geometry geometry;
  int occurrence = 0;
  for (const OperatorCall& call : calls) {
    geometry.append(make_geometry_operator(check_call(call)), random_stream("image", call.name, occurrence++));
  }
  return geometry;
}

OperatorCall sized(const std::string& name, std::vector<double> size) { return {name, {{"size", std::move(size)}}}; }

// The golden hash of an operator: of what it drew for a thousand images. It changes only with kSemanticsVersion.
std::string drawn(const std::vector<OperatorCall>& calls) {
  const Geometry geometry = chain(calls);
  Hasher64 hasher;
  for (std::uint64_t position = 0; position < 1000; ++position) {
    const ImageSize image{40 + static_cast<int>(position * 37 % 500), 40 + static_cast<int>(position * 91 % 400)};
    const SamplingMap map = geometry.draw(image, {7, position / 100, position});
    for (const AxisMap& axis : {map.x, map.y}) {
      hasher.update(as_bytes(fmt::format("{} {} {} {} {} {} {} {};", axis.clamp_begin, axis.clamp_end, axis.box_begin,
                                         axis.box_length, axis.target, axis.window_begin, axis.length, axis.flip)));
    }
  }
  return to_hex(hasher.digest());
}

TEST(Geometry, KeepsTheGoldenDrawsOfEveryOperator) {
  EXPECT_EQ(drawn({sized("resize", {64})}), "a4f90943cd0e809c");
  EXPECT_EQ(drawn({{"crop", {{"x", 3.0}, {"y", 4.0}, {"width", 20.0}, {"height", 30.0}}}}), "31f5ee35f7335dbb");
  EXPECT_EQ(drawn({sized("center_crop", {33, 64})}), "5d59e026b6ea513d");
  EXPECT_EQ(drawn({{"corner_crop", {{"size", Numbers{20, 30}}, {"corner", std::string("bottom_right")}}}}),
            "2eb7ad87f4110bb9");
  EXPECT_EQ(drawn({sized("random_crop", {32, 40})}), "087b8546e85397c3");
  EXPECT_EQ(drawn({sized("random_resized_crop", {224})}), "256a63d4d7adbe21");
  EXPECT_EQ(drawn({{"flip", {}}}), "08457a7d10109dc5");
  EXPECT_EQ(drawn({{"random_flip", {}}}), "29141e8afe6e0c06");
  EXPECT_EQ(drawn({sized("zoom_out", {64, 80})}), "8e4c25657aab10b1");
  EXPECT_EQ(drawn({sized("scale_jitter", {64, 80})}), "7eaeda4a059c5a48");
  EXPECT_EQ(drawn({{"pad", {{"padding", std::vector<double>{1, 2, 3, 4}}}}}), "39dce510fc08c7d7");
}

TEST(Geometry, ResizesTheShortSideAndRoundsTheLongOneDown) {
  const auto size_of = [](ImageSize image, double side) {
    const SamplingMap map = chain({sized("resize", {side})}).draw(image, {});
    return ImageSize{map.width(), map.height()};
  };
  EXPECT_EQ(size_of({500, 375}, 256), (ImageSize{341, 256}));
  EXPECT_EQ(size_of({375, 500}, 256), (ImageSize{256, 341}));
  EXPECT_EQ(size_of({100, 100}, 256), (ImageSize{256, 256}));
  EXPECT_EQ(size_of({1, 2}, 256), (ImageSize{256, 512}));
  EXPECT_THROW(size_of({1, 5000}, 256), Error);
}

TEST(Geometry, CropsCornersAndTheCentre) {
  const auto begin_of = [](ImageSize image, const std::string& corner) {
    const SamplingMap map = chain({{"corner_crop", {{"size", Numbers{20, 30}}, {"corner", corner}}}}).draw(image, {});
    EXPECT_EQ(map.width(), 30);
    EXPECT_EQ(map.height(), 20);
    return std::pair(map.x.window_begin, map.y.window_begin);
  };
  EXPECT_EQ(begin_of({101, 51}, "top_left"), std::pair(0, 0));
  EXPECT_EQ(begin_of({101, 51}, "top_right"), std::pair(71, 0));
  EXPECT_EQ(begin_of({101, 51}, "bottom_left"), std::pair(0, 31));
  EXPECT_EQ(begin_of({101, 51}, "bottom_right"), std::pair(71, 31));
  EXPECT_EQ(begin_of({101, 51}, "center"), std::pair(36, 16)) << "35.5 and 15.5: halves to even";
  EXPECT_EQ(begin_of({30, 20}, "bottom_right"), std::pair(0, 0));
  EXPECT_EQ(error_of([&] {
              begin_of({29, 51}, "center");
            }).message(),
            "corner_crop of 30 x 20 is larger than the image of 29 x 51; resize first");
}

// Each pad adds at most 131,070 to a side: sixteen thousand of them would overflow.
TEST(Geometry, LimitsTheSidesAndThePlaceOfEveryStep) {
  const OperatorCall pad{"pad", {{"padding", 65535.0}}};
  const OperatorCall crop{"crop", {{"x", 0.0}, {"y", 0.0}, {"width", 5.0}, {"height", 5.0}}};
  const auto kind_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string(to_string(error.kind()));
    }
    return std::string("accepted");
  };
  std::vector<OperatorCall> pads{sized("resize", {10, 10})}, drift;
  for (int i = 0; i < 7; ++i) pads.push_back(pad);
  EXPECT_EQ(chain(pads).output_size(), (ImageSize{917'500, 917'500}));
  EXPECT_EQ(chain(pads).draw({40, 30}, {}).width(), 917'500);
  for (int i = 0; i < 20'000; ++i) pads.push_back(pad);
  EXPECT_EQ(kind_of([&] { chain(pads).output_size(); }), "limit");
  EXPECT_EQ(kind_of([&] { chain(pads).draw({40, 30}, {}); }), "limit");
  for (int i = 0; i < 40'000; ++i) drift.insert(drift.end(), {pad, crop});
  EXPECT_EQ(chain(drift).output_size(), (ImageSize{5, 5}));
  EXPECT_EQ(kind_of([&] { chain(drift).draw({40, 30}, {}); }), "limit");
}

// Each pair shows the 65,535th part of what the one before showed, down to less than the rounding of coordinates.
TEST(Geometry, RefusesToResizeNextToNothing) {
  for (const double at : {0.0, 32'767.0, 65'534.0}) {
    for (const bool flipped : {false, true}) {
      std::vector<OperatorCall> calls;
      for (int pairs = 1; pairs <= 8; ++pairs) {
        if (flipped) calls.push_back({"flip", {}});
        calls.push_back(sized("resize", {65535, 65535}));
        calls.push_back({"crop", {{"x", at}, {"y", at}, {"width", 1.0}, {"height", 1.0}}});
        try {
          const SamplingMap map = chain(calls).draw({70'000, 3}, {});
          AxisTaps taps;
          for (const Filter filter : {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic}) {
            build_taps(map.x, filter, taps);
            EXPECT_EQ(taps.outputs, 1);
            EXPECT_NEAR(std::accumulate(taps.weights.begin(), taps.weights.end(), 0), 1 << 22, taps.taps_max);
          }
          EXPECT_LE(pairs, 2);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kLimit) << error.what();
          EXPECT_GE(pairs, 3) << error.what();
        }
      }
    }
  }
}

TEST(Geometry, CentersAsTorchvisionDoes) {
  const auto begin_of = [](int length, double size) {
    return chain({sized("center_crop", {size})}).draw({length, length}, {}).x.window_begin;
  };
  EXPECT_EQ(begin_of(341, 224), 58);  // 58.5 rounds to even
  EXPECT_EQ(begin_of(343, 224), 60);  // 59.5 rounds to even
  EXPECT_EQ(begin_of(256, 224), 16);
  EXPECT_EQ(begin_of(223, 224), 0);  // one column of padding, on the right
  EXPECT_EQ(begin_of(220, 224), -2);
}

TEST(Geometry, RandomCropReachesEveryPlace) {
  const Geometry geometry = chain({{"random_crop", {{"size", 8.0}, {"padding", 2.0}}}});
  std::set<std::pair<int, int>> places;
  for (std::uint64_t position = 0; position < 5000; ++position) {
    const SamplingMap map = geometry.draw({10, 9}, {1, 0, position});
    places.emplace(map.x.window_begin, map.y.window_begin);
  }
  EXPECT_EQ(places.size(), 7u * 6);
  EXPECT_EQ(*places.begin(), std::pair(-2, -2));
  EXPECT_EQ(*places.rbegin(), std::pair(4, 3));
}

TEST(Geometry, RandomCropShowsAnImageThatIsTooSmallWholeAtEveryPlace) {
  const auto places = [](double padding, ImageSize image) {
    const Geometry geometry =
        chain({{"random_crop", {{"size", Numbers{8, 14}}, {"padding", padding}, {"pad_if_needed", true}}}});
    std::set<int> columns, rows;
    for (std::uint64_t position = 0; position < 2000; ++position) {
      const SamplingMap map = geometry.draw(image, {1, 0, position});
      columns.insert(map.x.window_begin);
      rows.insert(map.y.window_begin);
    }
    return std::pair(columns, rows);
  };
  EXPECT_EQ(places(0, {10, 9}), (std::pair<std::set<int>, std::set<int>>({-4, -3, -2, -1, 0}, {0, 1})));
  EXPECT_EQ(places(1, {10, 9}), (std::pair<std::set<int>, std::set<int>>({-3, -2, -1}, {-1, 0, 1, 2})))
      << "the border that every image gets counts";
  EXPECT_EQ(places(0, {14, 8}), (std::pair<std::set<int>, std::set<int>>({0}, {0}))) << "as without it";
}

// What `value` makes of the maps that the call draws for images of 300 x 200.
template <class Value>
std::vector<double> sampled(const OperatorCall& call, const Value& value) {
  const Geometry geometry = chain({call});
  std::vector<double> samples;
  for (std::uint64_t position = 0; position < 100'000; ++position) {
    samples.push_back(value(geometry.draw({300, 200}, {3, 0, position})));
  }
  return samples;
}

TEST(Geometry, ZoomOutDrawsCanvasesAndPlacesUniformly) {
  const OperatorCall call{"zoom_out", {{"size", Numbers{4000, 4000}}, {"p", 1.0}}};
  // The image's width is the 4000th part of a canvas, rounded.
  const auto width = [](const SamplingMap& map) { return double(map.x.target); };
  const auto cdf = [](double least, double most) {
    return [=](double w) { return std::clamp((most - 4000 / (w + 0.5)) / (most - least), 0.0, 1.0); };
  };
  EXPECT_LT(kolmogorov_smirnov(sampled(call, width), cdf(1, 4)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(sampled(call, width), cdf(1, 4.05)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(sampled(call, width), cdf(1.05, 4)), kKolmogorovSmirnovMax);
  for (const bool rows : {false, true}) {
    const auto place = [&](const SamplingMap& map) {
      const AxisMap& axis = rows ? map.y : map.x;
      const int room = axis.length - axis.target;
      return room == 0 ? 0.5 : (-axis.window_begin + 0.5) / (room + 1);
    };
    const auto uniform = [](double most) { return [=](double x) { return std::clamp(x / most, 0.0, 1.0); }; };
    EXPECT_LT(kolmogorov_smirnov(sampled(call, place), uniform(1)), kKolmogorovSmirnovMax);
    EXPECT_GT(kolmogorov_smirnov(sampled(call, place), uniform(1.02)), kKolmogorovSmirnovMax);
  }
}

TEST(Geometry, ZoomOutKeepsItsProbabilityAndShowsTheWholeImage) {
  const Geometry geometry = chain({{"zoom_out", {{"size", 60.0}, {"p", 0.25}, {"side_range", Numbers{2, 3}}}}});
  int zoomed = 0;
  for (std::uint64_t position = 0; position < 20'000; ++position) {
    const SamplingMap map = geometry.draw({30, 40}, {1, 0, position});
    ASSERT_EQ(map.width(), 60);
    ASSERT_EQ(map.height(), 60);
    ASSERT_LE(map.x.window_begin, 0);
    ASSERT_GE(map.x.window_begin + map.x.length, map.x.target);
    zoomed += map.x.target <= 30 ? 1 : 0;
  }
  EXPECT_NEAR(zoomed, 5000, 300);
}

TEST(Geometry, ScaleJitterDrawsScalesAndPlacesUniformly) {
  const OperatorCall call{"scale_jitter", {{"size", Numbers{2000, 3000}}, {"scale", Numbers{0.5, 2}}}};
  const auto scale = [](const SamplingMap& map) { return map.x.target / 3000.0; };
  const auto uniform = [](double least, double most) {
    return [=](double x) { return std::clamp((x + 1 / 3000.0 - least) / (most - least), 0.0, 1.0); };
  };
  EXPECT_LT(kolmogorov_smirnov(sampled(call, scale), uniform(0.5, 2)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(sampled(call, scale), uniform(0.5, 2.05)), kKolmogorovSmirnovMax);
  EXPECT_GT(kolmogorov_smirnov(sampled(call, scale), uniform(0.45, 2)), kKolmogorovSmirnovMax);
  std::vector<double> places;
  const Geometry geometry = chain({call});
  for (std::uint64_t position = 0; position < 100'000; ++position) {
    const SamplingMap map = geometry.draw({300, 200}, {3, 0, position});
    const int room = map.y.target - map.y.length;
    ASSERT_GE(map.y.window_begin, 0);
    ASSERT_LE(map.y.window_begin, std::max(0, room));
    if (room > 0) places.push_back((map.y.window_begin + 0.5) / (room + 1));
  }
  EXPECT_GT(places.size(), 60'000U);
  EXPECT_LT(kolmogorov_smirnov(places, [](double x) { return std::clamp(x, 0.0, 1.0); }), kKolmogorovSmirnovMax);
}

TEST(Geometry, ScaleJitterOfAnImageThatFitsPadsOnTheRightAndBelow) {
  const OperatorCall call{"scale_jitter", {{"size", 100.0}, {"scale", Numbers{0.5, 0.5}}, {"fill", 7.0}}};
  const SamplingMap map = chain({call}).draw({80, 40}, {});
  EXPECT_EQ(map.x.target, 50);
  EXPECT_EQ(map.y.target, 25);
  EXPECT_EQ(map.x.window_begin, 0);
  EXPECT_EQ(map.x.length, 100);
  EXPECT_EQ(map.fill[1], 7);
}

TEST(Geometry, ScaleJitterMayBeginWithAnImageThatCovers) {
  const OperatorCall call{"scale_jitter",
                          {{"size", 100.0}, {"scale", Numbers{0.5, 0.5}}, {"fit", std::string("cover")}}};
  const SamplingMap map = chain({call}).draw({80, 40}, {});
  EXPECT_EQ(map.x.target, 100) << "its short side is half of the output's";
  EXPECT_EQ(map.y.target, 50);
}

TEST(Geometry, ScaleJitterLimitsTheSidesThatItCutsOff) {
  const auto kind_of = [](double size, ImageSize image) {
    const OperatorCall call{"scale_jitter", {{"size", size}, {"scale", Numbers{2, 2}}, {"fit", std::string("cover")}}};
    return error_of([&] { chain({call}).draw(image, {}); }).kind();
  };
  EXPECT_EQ(kind_of(512, {65'500, 1}), ErrorKind::kLimit) << "of 67 million columns";
  EXPECT_EQ(kind_of(512, {1, 65'500}), ErrorKind::kLimit);
  EXPECT_EQ(kind_of(65'535, {65'500, 1}), ErrorKind::kLimit) << "of more than an int holds";
  const OperatorCall largest{"scale_jitter",
                             {{"size", 500.0}, {"scale", Numbers{2, 2}}, {"fit", std::string("cover")}}};
  EXPECT_EQ(chain({largest}).draw({1000, 1}, {}).x.target, kChainSideMax);
  EXPECT_EQ(error_of([&] { chain({largest}).draw({1001, 1}, {}); }).kind(), ErrorKind::kLimit);
}

// As of any operator that cuts off what it made.
class MakesALongSide final : public GeometryOperator {
 public:
  void apply(Random&, SamplingMap& map) const override {
    map.resize(kChainSideMax + 1, 10, Filter::kBilinear);
    map.crop_or_pad({0, 0, 10, 10}, {});
  }
  Padding padding() const override { return Padding::kKeeps; }
  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return ImageSize{10, 10}; }
};

TEST(Geometry, LimitsSidesThatAreCutOffAgain) {
  Geometry geometry;
  geometry.append(std::make_unique<MakesALongSide>(), 1);
  EXPECT_EQ(error_of([&] { geometry.draw({20, 20}, {}); }).kind(), ErrorKind::kLimit);
}

TEST(Geometry, LetterboxShowsTheWholeImage) {
  const auto place = [](ImageSize image, std::vector<std::pair<std::string, Value>> args) {
    OperatorCall call = sized("letterbox", {60, 100});
    call.args.insert(call.args.end(), args.begin(), args.end());
    const SamplingMap map = chain({call}).draw(image, {});
    EXPECT_EQ(map.width(), 100);
    EXPECT_EQ(map.height(), 60);
    return std::array{-map.x.window_begin, -map.y.window_begin, map.x.target, map.y.target};
  };
  EXPECT_EQ(place({200, 100}, {}), (std::array{0, 5, 100, 50}));
  EXPECT_EQ(place({100, 201}, {}), (std::array{35, 0, 30, 60}));
  EXPECT_EQ(place({33, 60}, {}), (std::array{33, 0, 33, 60})) << "of an odd rest more is on the right";
  EXPECT_EQ(place({200, 100}, {{"place", std::string("top_left")}}), (std::array{0, 0, 100, 50}));
  EXPECT_EQ(place({20, 10}, {}), (std::array{0, 5, 100, 50}));
  EXPECT_EQ(place({20, 10}, {{"enlarge", false}}), (std::array{40, 25, 20, 10}));
  EXPECT_EQ(place({60'000, 1}, {}), (std::array{0, 29, 100, 1}));
}

TEST(Geometry, IsDrawnForTheImageThatItBelongsTo) {
  const Geometry geometry = chain({sized("random_resized_crop", {64, 64}), {"random_flip", {}}});
  for (std::uint64_t position = 0; position < 100; ++position) {
    const SamplingMap large = geometry.draw({301, 199}, {1, 0, position});
    SeenImage half(150, 100);
    half.as_large_as = {301, 199};
    const SamplingMap small = geometry.draw(half, {1, 0, position});
    EXPECT_EQ(large.x.flip, small.x.flip);
    for (const double part : {0.1, 0.5, 0.9}) {  // of the whole image
      EXPECT_NEAR(large.x.output_at(part * 301), small.x.output_at(part * 150), 1e-9 * 301);
      EXPECT_NEAR(large.y.output_at(part * 199), small.y.output_at(part * 100), 1e-9 * 199);
    }
  }
  SeenImage same(301, 199);
  EXPECT_EQ(geometry.draw(same, {}).x.clamp_begin, geometry.draw({301, 199}, {}).x.clamp_begin);
  SeenImage depth(32, 24);
  depth.as_large_as = {64, 48};
  OperatorCall resize = sized("resize", {48, 64});
  resize.args.push_back({"filter", std::string("nearest")});
  const SamplingMap map = chain({resize}).draw(depth, {});
  EXPECT_TRUE(map.x.resampled);
  EXPECT_EQ(map.filter, Filter::kNearest) << "which resizes to what it is taken for";
}

TEST(Geometry, OperatorsThatResizeAndPadCannotFollowPadding) {
  const OperatorCall pad{"pad", {{"padding", 1.0}}};
  for (const char* name : {"zoom_out", "scale_jitter", "letterbox"}) {
    EXPECT_THROW(chain({pad, sized(name, {8})}), Error);
    EXPECT_THROW(chain({sized(name, {8}), sized("resize", {4})}), Error);
    EXPECT_NO_THROW(chain({sized(name, {8}), sized("center_crop", {4}), sized("resize", {4})}));
    const auto combined = [&](const char* combination, OperatorCalls members) {
      return chain({{combination, {{"operators", std::move(members)}}}, sized("resize", {4})});
    };
    for (const char* combination : {"sequence", "random_apply", "random_choice", "random_order"}) {
      EXPECT_THROW(combined(combination, {sized(name, {8}), {"flip", {}}}), Error) << combination;
    }
    EXPECT_THROW(chain({{"random_order", {{"operators", OperatorCalls{sized(name, {8}), sized("resize", {4})}}}}}),
                 Error);
    EXPECT_NO_THROW(chain({{"random_order", {{"operators", OperatorCalls{sized(name, {8}), {"flip", {}}}}}}}));
  }
}

TEST(Geometry, PaddingThatAnImageBringsMakesABadSample) {
  const Geometry cropped = chain({sized("center_crop", {20}), sized("resize", {10})});
  EXPECT_EQ(cropped.draw({20, 30}, {}).width(), 10);
  EXPECT_EQ(error_of([&] { cropped.draw({19, 30}, {}); }).kind(), ErrorKind::kBadSample);
  const Geometry seen = chain({sized("center_crop", {20}), {"iou_crop", {{"size", 10.0}}}});
  EXPECT_EQ(error_of([&] { seen.draw({19, 30}, {}); }).kind(), ErrorKind::kBadSample);
  const Geometry bordered = chain({sized("center_crop", {20}), {"pad", {{"padding", 1.0}, {"fill", 9.0}}}});
  EXPECT_EQ(bordered.draw({20, 20}, {}).width(), 22);
  EXPECT_EQ(error_of([&] { bordered.draw({19, 20}, {}); }).kind(), ErrorKind::kBadSample);
}

TEST(Geometry, RandomFlipKeepsItsProbability) {
  for (const double p : {0.0, 0.25, 1.0}) {
    const Geometry geometry = chain({{"random_flip", {{"p", p}}}});
    int flipped = 0;
    for (std::uint64_t position = 0; position < 20'000; ++position)
      flipped += geometry.draw({4, 4}, {1, 0, position}).x.flip ? 1 : 0;
    EXPECT_NEAR(flipped, 20'000 * p, p == 0.25 ? 300 : 0);
  }
}

TEST(Geometry, DrawsApartForEachOccurrenceViewAndPosition) {
  const auto flips = [](const Geometry& geometry) {
    std::string text;
    for (std::uint64_t position = 0; position < 64; ++position)
      text += geometry.draw({4, 4}, {1, 0, position}).x.flip ? '1' : '0';
    return text;
  };
  const std::string once = flips(chain({{"random_flip", {}}}));
  EXPECT_NE(once.find('1'), std::string::npos);
  EXPECT_NE(once.find('0'), std::string::npos);
  EXPECT_NE(flips(chain({{"random_flip", {}}, {"random_flip", {}}})), std::string(64, '0'))
      << "two occurrences share their draws";
}

TEST(Geometry, RefusesCropsLargerThanTheImage) {
  EXPECT_THROW(chain({sized("random_crop", {32})}).draw({31, 40}, {}), Error);
  EXPECT_THROW(chain({{"crop", {{"x", 3.0}, {"y", 0.0}, {"width", 8.0}, {"height", 8.0}}}}).draw({10, 10}, {}), Error);
  EXPECT_NO_THROW(chain({sized("random_crop", {32})}).draw({32, 32}, {}));
}

TEST(Geometry, TellsFixedSizesFromThoseThatDependOnTheImage) {
  EXPECT_EQ(chain({sized("resize", {8})}).output_size(), std::nullopt);
  EXPECT_EQ(chain({sized("resize", {8, 9})}).output_size(), (ImageSize{9, 8}));
  EXPECT_EQ(chain({sized("resize", {8}), sized("center_crop", {5})}).output_size(), (ImageSize{5, 5}));
  EXPECT_EQ(chain({sized("resize", {8, 9}), {"pad", {{"padding", 1.0}}}}).output_size(), (ImageSize{11, 10}));
  EXPECT_EQ(chain({sized("resize", {8, 16}), sized("resize", {4})}).output_size(), (ImageSize{8, 4}));
  EXPECT_EQ(chain({{"flip", {}}}).output_size(), std::nullopt);
}

TEST(Color, ComposesInOrder) {
  ColorChain color;
  apply_normalize(check_call({"normalize", {{"mean", std::vector<double>{1, 2, 3}}, {"std", 2.0}, {"scale", 1.0}}}),
                  color);
  apply_channel_order(check_call({"channel_order", {{"order", std::string("bgr")}}}), color);
  apply_normalize(check_call({"normalize", {{"mean", 1.0}, {"std", 1.0}, {"scale", 4.0}}}), color);
  // Output 0 is input 2: ((x - 3) / 2) / 4 - 1.
  EXPECT_EQ(color.from, (std::array<int, 3>{2, 1, 0}));
  EXPECT_DOUBLE_EQ(color.scale[0], 1.0 / 8);
  EXPECT_DOUBLE_EQ(color.bias[0], -3.0 / 8 - 1);
  EXPECT_DOUBLE_EQ(color.bias[2], -1.0 / 8 - 1);
}

TEST(Color, RefusesWhatLeavesFloat32) {
  const auto apply = [](ColorChain& color, double mean) {
    apply_normalize(check_call({"normalize", {{"mean", mean}, {"std", 1e-6}, {"scale", 1e-6}}}), color);
  };
  ColorChain large;
  for (int i = 0; i < 2; ++i) apply(large, 0);
  EXPECT_FLOAT_EQ(large.map().scale[1], 1e24F);
  EXPECT_EQ(error_of([&] { apply(large, 0); }).kind(), ErrorKind::kUsage);

  ColorChain biased;
  biased.bias.fill(1e30);
  EXPECT_EQ(error_of([&] { apply(biased, 0); }).kind(), ErrorKind::kUsage);
}

TEST(Color, KnowsThePresets) {
  ColorChain color;
  apply_normalize(check_call({"normalize", {{"preset", std::string("imagenet")}}}), color);
  EXPECT_FLOAT_EQ(color.map().scale[0], static_cast<float>(1 / (255 * 0.229)));
  EXPECT_FLOAT_EQ(color.map().bias[2], static_cast<float>(-0.406 / 0.225));
}

OperatorCall choice_of_batch(OperatorCalls members) {
  return {"random_choice", {{"operators", std::move(members)}, {"mode", std::string("batch")}}};
}

TEST(Geometry, AChoiceForBatchesDependsOnTheBatchAndItsMembersOnTheSample) {
  const Geometry geometry =
      chain({choice_of_batch({sized("random_resized_crop", {20, 30}), sized("random_resized_crop", {50, 10})}),
             {"flip", {}}});
  EXPECT_EQ(geometry.output_size(), (ImageSize{30, 50})) << "no batch is larger in either direction";
  EXPECT_TRUE(geometry.size_varies());
  std::set<int> heights;
  for (std::uint64_t batch = 0; batch < 20; ++batch) {
    const ImageSize size = *geometry.output_size(SampleDraw{1, 2, 0, batch});
    std::set<int> crops;
    for (std::uint64_t position = 0; position < 10; ++position) {
      const SamplingMap map = geometry.draw({400, 300}, {1, 2, position, batch});
      EXPECT_EQ((ImageSize{map.width(), map.height()}), size);
      crops.insert(map.x.clamp_begin);
    }
    EXPECT_GT(crops.size(), 1u) << "each sample has its own crop";
    heights.insert(size.height);
  }
  EXPECT_EQ(heights, (std::set<int>{20, 50}));
}

TEST(Geometry, TheBoundOfBatchesFollowsTheWholeChain) {
  // 100 x 50 and 50 x 100 become 40 x 20 and 20 x 40, where their bound would become 20 x 20.
  const Geometry geometry = chain(
      {choice_of_batch({sized("center_crop", {50, 100}), sized("center_crop", {100, 50})}), sized("resize", {20})});
  EXPECT_EQ(geometry.output_size(), (ImageSize{40, 40}));
  const Geometry same = chain({choice_of_batch({sized("center_crop", {9}), sized("random_crop", {9})})});
  EXPECT_FALSE(same.size_varies());
}

TEST(Geometry, AChoiceForBatchesStandsAloneInItsView) {
  const OperatorCall choice = choice_of_batch({sized("center_crop", {9}), sized("center_crop", {8})});
  EXPECT_EQ(error_of([&] {
              chain({choice, choice});
            }).message(),
            "a view has only one random_choice with mode='batch'");
  const OperatorCall around{"random_apply", {{"operators", OperatorCalls{choice}}}};
  EXPECT_EQ(error_of([&] { chain({around}); }).message(),
            "random_choice with mode='batch' cannot stand within another operator");
  const OperatorCall pictures = choice_of_batch({{"invert", {}}, {"solarize", {{"threshold", 100.0}}}});
  EXPECT_EQ(error_of([&] { make_picture_operator(check_call(pictures)); }).message(),
            "mode='batch' chooses among operators of geometry, such as random_resized_crop");
  const OperatorCall unequal = choice_of_batch({sized("center_crop", {9}), sized("resize", {9})});
  EXPECT_FALSE(chain({unequal}).output_size()) << "the size depends on the image, in some batches";
}

}  // namespace
}  // namespace stoker
