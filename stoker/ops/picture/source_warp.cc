#include "stoker/ops/picture/source_warp.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/planar_color.h"

namespace stoker {
namespace {

// Beyond what the output's pixels show: the taps around them, and what rounding adds.
constexpr int kCanvasMargin = 8;
// Of the border around the image that is on the canvas.
constexpr double kCanvasBorder = 4;
constexpr int kCanvasSideMax = 16'384;

double length_of(double x, double y) { return std::sqrt(x * x + y * y); }

// Where an axis shows its outputs: output o lies at at + step * o, where 0 is the middle of the source's first pixel.
struct AxisPlaces {
  double at, step;
};

AxisPlaces places_of(const AxisMap& axis) {
  const double scale = axis.resampled ? axis.box_length / axis.target : 1;
  const int first = axis.window_begin + (axis.flip ? axis.length - 1 : 0);
  const double read = axis.box_begin + (first + 0.5) * scale, step = axis.flip ? -scale : scale;
  if (axis.source_mirrored) return {axis.clamp_end - read - 0.5, -step};
  return {axis.clamp_begin + read - 0.5, step};
}

struct Interval {
  double begin, end;
};

// What the output shows of the image, on each axis, and how many of its pixels one of the output takes.
struct Shown {
  Interval x, y;
  double pixels_x, pixels_y;  // not finite if there is no answer
};

Shown shown_by(const PlaneMap& source, ImageSize output) {
  const auto& m = source.m;
  Shown shown{{1e300, -1e300}, {1e300, -1e300}, 0, 0};
  bool ahead = true;  // no pixel of the output lies on the horizon or beyond it
  for (const double y : {0.0, output.height - 1.0}) {
    for (const double x : {0.0, output.width - 1.0}) {
      const double divisor = m[6] * x + m[7] * y + m[8];
      const double at_x = (m[0] * x + m[1] * y + m[2]) / divisor, at_y = (m[3] * x + m[4] * y + m[5]) / divisor;
      ahead = ahead && divisor > 1e-6;
      shown.x = {std::min(shown.x.begin, at_x), std::max(shown.x.end, at_x)};
      shown.y = {std::min(shown.y.begin, at_y), std::max(shown.y.end, at_y)};
    }
  }
  if (!ahead) shown.x = {-1e9, 1e9}, shown.y = {-1e9, 1e9};
  // The derivatives in the middle of the output.
  const double x = (output.width - 1) * 0.5, y = (output.height - 1) * 0.5;
  const double divisor = m[6] * x + m[7] * y + m[8];
  const double at_x = (m[0] * x + m[1] * y + m[2]) / divisor, at_y = (m[3] * x + m[4] * y + m[5]) / divisor;
  shown.pixels_x = length_of((m[0] - at_x * m[6]) / divisor, (m[1] - at_x * m[7]) / divisor);
  shown.pixels_y = length_of((m[3] - at_y * m[6]) / divisor, (m[4] - at_y * m[7]) / divisor);
  return shown;
}

// One axis of the canvas.
struct CanvasAxis {
  int crop, crop_length;  // of the image
  int scaled;             // what that is resized to
  int begin, length = 0;  // of the canvas, in what is resized
  int read = 0;           // as WarpedSampling's

  /// Makes of places in the image those in the canvas.
  double scale() const { return static_cast<double>(scaled) / crop_length; }
  double offset() const { return (0.5 - crop) * scale() - 0.5 - begin; }
};

CanvasAxis canvas_axis(Interval shown, double pixels, int image, int canvas) {
  const int room = canvas - kCanvasMargin;
  if (!(pixels > 1e-6 && pixels < 1e6)) pixels = 1e-6;
  const auto within = [&](double border) -> Interval {
    return {std::clamp(shown.begin, -0.5 - border, image - 0.5 + border),
            std::clamp(shown.end, -0.5 - border, image - 0.5 + border)};
  };
  // A projective map may show more than the canvas has room for in the scale of its middle; an affine one does not.
  const auto fitting = [&](Interval interval) { return std::max(pixels, (interval.end - interval.begin) / room); };
  const auto [begin, end] = within(kCanvasBorder * fitting(within(0)));
  pixels = fitting({begin, end});

  // As far as filters reach, and they are resized together with the border.
  const double reach = 5 * std::max(pixels, 1.0) + 2;
  CanvasAxis axis;
  axis.crop = std::clamp(static_cast<int>(std::floor(begin - reach)), 0, image - 1);
  const int crop_end = std::clamp(static_cast<int>(std::ceil(end + reach)) + 1, axis.crop + 1, image);
  axis.crop_length = crop_end - axis.crop;
  axis.scaled =
      std::clamp(static_cast<int>(std::nearbyint(std::min(axis.crop_length / pixels, 1e9))), 1, kChainSideMax);
  axis.length = canvas;
  axis.begin = 0;
  const double first = std::clamp(begin * axis.scale() + axis.offset(), -canvas - 8.0, axis.scaled + 8.0);
  axis.begin = static_cast<int>(std::floor(first)) - 2;
  const double last = end * axis.scale() + axis.offset();
  axis.read = std::clamp(static_cast<int>(std::min(last, 1e6)) + 4, 1, canvas);
  return axis;
}

bool is_identity(const PlaneMap& map) { return map.m == PlaneMap().m; }

// Whatever of the output is padding.
std::optional<PictureStep> frame_of(const SamplingMap& map) {
  if (!map.x.shows_padding() && !map.y.shows_padding()) return std::nullopt;
  PictureStep step{};
  step.kind = PictureKind::kFrame;
  const auto place = [&](const AxisMap& axis, int i) {
    const int before = axis.image_begin() - axis.window_begin;
    const int after = axis.window_begin + axis.length - axis.image_end();
    step.n[i] = axis.flip ? after : before;
    step.n[i + 2] = axis.length - (axis.flip ? before : after);
  };
  place(map.x, 0);
  place(map.y, 1);
  std::copy(map.fill.begin(), map.fill.end(), step.n + 4);
  return step;
}

}  // namespace

void SourceWarp::append(const OperatorCall& call, std::unique_ptr<const PictureOperator> op, std::uint64_t stream) {
  assert(op->only_warps());
  add_look(call);
  warps_.append(std::move(op), stream);
}

void SourceWarp::add_look(const OperatorCall& call) {
  if (std::holds_alternative<CombinationFunction>(find_operator(call.name).function)) {
    for (const OperatorCall& member : call.operators(kCombinedOperators)) add_look(member);
    return;
  }
  const WarpLook look(call);
  if (look_ && (look_->filter != look.filter || look_->fill != look.fill)) {
    fail(ErrorKind::kUsage,
         "warps before the operators of geometry are one sampling: give all of them the same filter and fill");
  }
  look_ = look;
}

PictureBounds SourceWarp::bounds() { return {.steps = WarpedSampling::kStepsMax, .scratch = kWarpScratch}; }

ImageSize SourceWarp::canvas(ImageSize output) const {
  if (empty()) return output;
  const double side = std::ceil(length_of(output.width, output.height)) + kCanvasMargin;
  if (side > kCanvasSideMax) {
    fail(ErrorKind::kLimit,
         "a warp before the last operators of geometry, whose output is {} x {}, needs a canvas with sides of {} "
         "pixels; "
         "the limit is {}: put the warp after them",
         output.width, output.height, side, kCanvasSideMax);
  }
  return {static_cast<int>(side), static_cast<int>(side)};
}

void WarpedSampling::shorten() {
  map.x.crop(0, read.width);
  map.y.crop(0, read.height);
  if (!warped) step_count = 0;
}

void WarpedSampling::fill_as_planes_do() {
  if (step_count == 0) return;
  std::int32_t* const fill = step[0].n + WarpStep::kFill;
  const std::array<std::uint8_t, 3> color = planar_padding(
      {static_cast<std::uint8_t>(fill[0]), static_cast<std::uint8_t>(fill[1]), static_cast<std::uint8_t>(fill[2])});
  std::copy(color.begin(), color.end(), fill);
}

WarpedSampling SourceWarp::unwarped(SamplingMap map) const {
  WarpedSampling sampling{};
  sampling.image = map.image_shown();
  sampling.size = sampling.read = {map.width(), map.height()};
  sampling.map = map;
  if (empty()) return sampling;
  const ImageSize side = canvas(sampling.size);
  sampling.map.x.crop(0, side.width);
  sampling.map.y.crop(0, side.height);
  sampling.step_count = 1;
  sampling.step[0] = step_of(PlaneMap());
  return sampling;
}

PictureStep SourceWarp::step_of(const PlaneMap& source) const {
  PictureStep step{};
  step.kind = PictureKind::kWarp;
  step.alone = true;
  look_->store(step);
  step.n[WarpStep::kFillsAround] = 1;
  store_map(source, step);
  return step;
}

WarpedSampling SourceWarp::draw(const Geometry& geometry, const SeenImage& image, const SampleDraw& sample) const {
  if (empty()) return unwarped(geometry.draw(image, sample));
  SamplingMap map = geometry.draw_before_split(image, sample);
  const ImageSize between = {map.width(), map.height()};
  PictureSteps drawn;
  warps_.draw(between, sample, drawn);
  assert(drawn.all().size() <= 1);
  if (drawn.all().empty() || is_identity(map_of(drawn.all().front()))) return unwarped(geometry.draw(image, sample));

  const SamplingMap after = geometry.draw_after_split(between, map.filter, sample);
  const AxisPlaces across = places_of(after.x), down = places_of(after.y);
  const PlaneMap source =
      map_of(drawn.all().front()).after({{across.step, 0, across.at, 0, down.step, down.at, 0, 0, 1}});
  WarpedSampling sampling{};
  sampling.size = {after.width(), after.height()};
  const ImageSize side = canvas(sampling.size);
  const Shown shown = shown_by(source, sampling.size);
  const CanvasAxis x = canvas_axis(shown.x, shown.pixels_x, between.width, side.width);
  const CanvasAxis y = canvas_axis(shown.y, shown.pixels_y, between.height, side.height);

  map.x.crop(x.crop, x.crop_length);
  map.y.crop(y.crop, y.crop_length);
  map.resize(x.scaled, y.scaled, after.filter);
  map.crop_or_pad({x.begin, y.begin, side.width, side.height}, look_->fill);
  sampling.map = map;
  sampling.read = {x.read, y.read};
  sampling.warped = true;
  const auto on_canvas = [](const CanvasAxis& axis, double place) {
    return (place - axis.crop) * axis.scale() - axis.begin;
  };
  sampling.image = {on_canvas(x, 0), on_canvas(y, 0), on_canvas(x, between.width), on_canvas(y, between.height)};
  const PlaneMap to_canvas = {{x.scale(), 0, x.offset(), 0, y.scale(), y.offset(), 0, 0, 1}};
  sampling.step[0] = step_of(to_canvas.after(source));
  sampling.step_count = 1;
  if (const std::optional<PictureStep> frame = frame_of(after)) sampling.step[1] = *frame, ++sampling.step_count;
  return sampling;
}

}  // namespace stoker
