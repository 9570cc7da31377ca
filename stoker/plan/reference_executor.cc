#include "stoker/plan/reference_executor.h"

#include <algorithm>
#include <cassert>

#include "stoker/codec/plain_decode.h"
#include "stoker/ops/pass_order.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/companion_stage.h"
#include "stoker/plan/reference_array.h"
#include "stoker/plan/reference_boxes.h"
#include "stoker/plan/reference_companions.h"
#include "stoker/plan/reference_picture.h"
#include "stoker/plan/reference_planar.h"
#include "stoker/tensor/orientation.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

constexpr int kRgb = 3;

// A whole image of interleaved RGB.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  std::uint8_t at(int x, int y, int channel) const {
    return pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * kRgb +
                  static_cast<std::size_t>(channel)];
  }
};

// `value` gives each channel of each pixel by itself.
template <typename Value>
Picture picture_of(int width, int height, const Value& value) {
  Picture result{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < kRgb; ++c) result.pixels.push_back(value(x, y, c));
    }
  }
  return result;
}

// Exif: which pixel of the stored image stands at (x, y) of the upright one.
Picture upright(const Picture& stored, Orientation orientation) {
  const bool transposed = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const int width = transposed ? stored.height : stored.width, height = transposed ? stored.width : stored.height;
  return picture_of(width, height, [&](int x, int y, int channel) {
    const int column = transposed ? y : x, row = transposed ? x : y;
    return stored.at(from_right ? stored.width - 1 - column : column, from_bottom ? stored.height - 1 - row : row,
                     channel);
  });
}

Picture crop(const Picture& image, const AxisMap& x_axis, const AxisMap& y_axis) {
  return picture_of(
      x_axis.clamp_end - x_axis.clamp_begin, y_axis.clamp_end - y_axis.clamp_begin,
      [&](int x, int y, int channel) { return image.at(x_axis.clamp_begin + x, y_axis.clamp_begin + y, channel); });
}

// The axis as if the whole virtual target were shown, unflipped, of a source that was already cropped.
AxisTaps whole_target_taps(AxisMap axis, Filter filter) {
  axis.clamp_end -= axis.clamp_begin;
  axis.clamp_begin = 0;
  axis.window_begin = 0;
  axis.length = axis.target;
  axis.flip = false;
  axis.dropped_before = axis.dropped_after = 0;
  AxisTaps taps;
  build_taps(axis, filter, taps);
  return taps;
}

// An output of taps; `sample` gives those of the source.
template <typename Sample>
std::uint8_t weighted(const AxisTaps& taps, int output, const Sample& sample) {
  const auto weights = taps.weights_of(output);
  std::int64_t sum = std::int64_t{1} << (kTapBits - 1);  // for rounding
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += std::int64_t{weights[k]} * sample(taps.first[static_cast<std::size_t>(output)] + static_cast<int>(k));
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kTapBits, 0, 255));
}

Picture resize_columns(const Picture& image, const AxisTaps& taps) {
  return picture_of(taps.outputs, image.height, [&](int x, int y, int channel) {
    return weighted(taps, x, [&](int column) { return image.at(column, y, channel); });
  });
}

Picture resize_rows(const Picture& image, const AxisTaps& taps) {
  return picture_of(image.width, taps.outputs, [&](int x, int y, int channel) {
    return weighted(taps, y, [&](int row) { return image.at(x, row, channel); });
  });
}

// The target's column that output o shows.
int shown(const AxisMap& axis, int o) { return axis.window_begin + (axis.flip ? axis.length - 1 - o : o); }

Picture window(const Picture& target, const SamplingMap& map) {
  return picture_of(map.width(), map.height(), [&](int x, int y, int channel) {
    const int from_x = shown(map.x, x), from_y = shown(map.y, y);
    const auto is_image = [](const AxisMap& axis, int at) {
      return at >= axis.dropped_before && at < axis.target - axis.dropped_after;
    };
    return is_image(map.x, from_x) && is_image(map.y, from_y) ? target.at(from_x, from_y, channel)
                                                              : map.fill[static_cast<std::size_t>(channel)];
  });
}

std::vector<std::uint8_t> finished(const Picture& image, const ColorMap& color, TensorFormat format) {
  std::vector<std::uint8_t> out(image.pixels.size() * size_of(format.dtype));
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < kRgb; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const float product = static_cast<float>(image.at(x, y, color.from[channel])) * color.scale[channel];
        const float value = product + color.bias[channel];
        const int element = format.layout == Layout::kNchw ? (c * image.height + y) * image.width + x
                                                           : (y * image.width + x) * kRgb + c;
        store_rounded(value, format.dtype, out.data(), element);
      }
    }
  }
  return out;
}

// The image upright, whole.
Picture decoded_image(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits) {
  PlainImage decoded = decode_plain_rgb(encoded, limits);
  const Picture stored{decoded.facts.width, decoded.facts.height, std::move(decoded.rgb)};
  return upright(stored, program.decode.apply_orientation ? decoded.facts.orientation : Orientation{1});
}

Picture run_geometry(const ImageProgram& program, const Picture& image, const SamplingMap& map) {
  const Picture cropped = crop(image, map.x, map.y);
  const AxisTaps across = whole_target_taps(map.x, map.filter), down = whole_target_taps(map.y, map.filter);
  const bool vertical_first = pass_order(map, program.decode.pillow) == PassOrder::kVerticalFirst;
  const Picture between = vertical_first ? resize_rows(cropped, down) : resize_columns(cropped, across);
  return window(vertical_first ? resize_columns(between, across) : resize_rows(between, down), map);
}

// What a view of images comes to: its tensor, and the size of that.
struct Finished {
  ImageSize size;
  std::vector<std::uint8_t> tensor;
};

// The tensor of a view with operators on pictures: `begin` gives what they begin with.
template <typename Begin>
std::vector<std::uint8_t> run_pictures(const ImageProgram& program, const WarpedSampling& sampling,
                                       const SampleDraw& draw, const Begin& begin) {
  const ImageSize size = sampling.size;
  const std::vector<std::uint8_t> planes =
      reference_picture(begin(ColorMap(), kPictureFormat), program.picture, sampling, draw);
  const std::size_t pixels = planes.size() / kRgb;
  const Picture result = picture_of(size.width, size.height, [&](int x, int y, int channel) {
    return planes[static_cast<std::size_t>(channel) * pixels +
                  static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x)];
  });
  return finished(result, program.color, program.format);
}

// `begin` gives the tensor that a color step makes.
template <typename Begin>
Finished finish(const ImageProgram& program, const WarpedSampling& sampling, const SampleDraw& draw,
                const Begin& begin) {
  if (program.picture.empty()) return {sampling.size, begin(program.color, program.format)};
  return {sampling.size, run_pictures(program, sampling, draw, begin)};
}

Finished run_faithful(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SeenImage& seen,
                      const SampleDraw& draw) {
  const Picture image = decoded_image(program, encoded, limits);
  assert((seen.size == ImageSize{image.width, image.height}));
  const WarpedSampling sampling = program.draw(seen, draw);
  const Picture resized = run_geometry(program, image, sampling.map);
  return finish(program, sampling, draw,
                [&](const ColorMap& color, TensorFormat format) { return finished(resized, color, format); });
}

// Columns become rows.
PlainPlane transposed(const PlainPlane& plane) {
  PlainPlane result{plane.height, plane.width, plane.down, plane.across, {}, plane.smooth};
  for (int x = 0; x < plane.width; ++x) {
    for (int y = 0; y < plane.height; ++y) {
      result.samples.push_back(plane.samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(plane.width) +
                                             static_cast<std::size_t>(x)]);
    }
  }
  return result;
}

Finished run_planar(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SeenImage& seen,
                    const SampleDraw& draw) {
  const ImageFacts facts = AnyImageDecoder(limits).read_facts(encoded);
  const Turn turn = turn_of(program.decode.apply_orientation ? facts.orientation : Orientation{1});
  WarpedSampling sampling = program.draw(seen, draw);
  sampling.fill_as_planes_do();
  const SamplingMap map = sampling.map.stored(turn, facts.width, facts.height);
  const std::vector<PlainPlane> planes = decode_plain_planes(encoded, limits, program.decode.scaled ? map.shrink() : 1);
  std::vector<PlainPlane> resized = reference_planar_geometry(planes, map);
  if (turn.transpose) {
    for (PlainPlane& plane : resized) plane = transposed(plane);
  }
  return finish(program, sampling, draw, [&](const ColorMap& color, TensorFormat format) {
    return reference_planar_color(resized, color, format);
  });
}

// Whatever steps erase, one after another.
void erase(const ImageProgram& program, const SampleDraw& draw, Finished& finished) {
  const auto& [width, height] = finished.size;
  EraseSteps steps;
  program.erase.draw(finished.size, draw, steps);
  for (const EraseStep& step : steps.all()) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; step.erases(x, y) && c < kRgb; ++c) {
          const int element =
              program.format.layout == Layout::kNchw ? (c * height + y) * width + x : (y * width + x) * kRgb + c;
          store_rounded(step.value_at(x, y, c), program.format.dtype, finished.tensor.data(), element);
        }
      }
    }
  }
}

Finished run_unerased(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SeenImage& seen,
                      const SampleDraw& draw) {
  if (program.decode.mode == DecodeMode::kPlanar) {
    if (!decode_plain_planes(encoded, limits).empty()) return run_planar(program, encoded, limits, seen, draw);
  }
  return run_faithful(program, encoded, limits, seen, draw);
}

Finished run_image(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SeenImage& seen,
                   const SampleDraw& draw) {
  Finished finished = run_unerased(program, encoded, limits, seen, draw);
  erase(program, draw, finished);
  return finished;
}

}  // namespace

// The size of a view's image as it is shown.
ImageSize ReferenceExecutor::size_of(const ViewPlan& view, const SampleInput& sample) const {
  const ImageFacts facts = AnyImageDecoder(limits_).read_facts(sample.fields[static_cast<std::size_t>(view.field)]);
  const bool turned = turn_of(view.image.decode.apply_orientation ? facts.orientation : Orientation{1}).transpose;
  return turned ? ImageSize{facts.height, facts.width} : ImageSize{facts.width, facts.height};
}

// What its geometry is drawn for; `boxes` are those that it looks at.
SeenImage ReferenceExecutor::seen_image(const ViewPlan& view, const SampleInput& sample,
                                        std::vector<ObjectBox>& boxes) const {
  SeenImage seen = size_of(view, sample);
  if (view.as_large_as) seen.as_large_as = size_of(plan_.views()[*view.as_large_as], sample);
  if (view.looks_at) {
    const ViewPlan& objects = plan_.views()[*view.looks_at];
    const ImageSize theirs = size_of(plan_.views()[objects.like], sample);
    std::vector<LabeledBox> found;
    read_boxes(objects.objects.boxes, sample.fields[static_cast<std::size_t>(objects.field)], theirs, found);
    const double across = static_cast<double>(seen.size.width) / theirs.width;
    const double down = static_cast<double>(seen.size.height) / theirs.height;
    for (const LabeledBox& box : found) {
      boxes.push_back({box.left * across, box.top * down, box.right * across, box.bottom * down});
    }
    seen.boxes = boxes;
  }
  return seen;
}

void ReferenceExecutor::write_companion(const ViewPlan& view, const SampleInput& sample, std::size_t output,
                                        const OutputPlaces& place) const {
  const ViewPlan& like = plan_.views()[view.like];
  std::vector<ObjectBox> looked_at;
  const SeenImage seen = seen_image(like, sample, looked_at);
  const WarpedSampling sampling = like.image.draw(seen, sample.draw);
  PictureSteps steps;
  like.image.picture.draw(sampling.size, sample.draw, steps, sampling.steps());
  const ImageCourse course{
      .image = seen.size, .map = sampling.map, .shown = sampling.image, .size = sampling.size, .steps = steps.all()};
  const Bytes encoded = sample.fields[static_cast<std::size_t>(view.field)];
  const auto place_of = [&](const Shape& shape) { return place(output, shape); };
  if (view.kind == ViewKind::kMask) {
    return reference_mask(view.mask, encoded, limits_, course, place_of(Plan::mask_shape_of(course.size)));
  }
  std::vector<ObjectDetails> details;
  const std::vector<LabeledBox> objects =
      reference_boxes(view.objects.boxes, sample.fields[static_cast<std::size_t>(view.boxes_field)], course, details);
  if (view.kind == ViewKind::kBoxes || view.kind == ViewKind::kBoxLabels) {
    return write_boxes(view, objects, course.size, place_of);
  }
  const MutableBytes out = place_of(Plan::objects_shape_of(view, std::ssize(objects), course.size));
  if (view.kind == ViewKind::kKeypoints) {
    reference_keypoints(view.objects.points, objects, details, course, reinterpret_cast<float*>(out.data()));
  } else {
    reference_instances(view.objects.instances, objects, details, encoded, limits_, course, out);
  }
}

void ReferenceExecutor::run(const SampleInput& sample, const OutputPlaces& outputs) {
  const auto place = [&](std::size_t view, const Shape& shape) { return functions_.place(view, shape, outputs); };
  functions_.begin();
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind == ViewKind::kGiven) continue;
    if (view.kind == ViewKind::kArray) {
      reference_array(view.array, view.field, sample, [&](const Shape& shape) { return place(i, shape); });
      continue;
    }
    if (view.is_plain()) {
      write_plain(view, sample, [&](const Shape& shape) { return place(i, shape); });
      continue;
    }
    if (view.goes_along()) {
      write_companion(view, sample, i, place);
      continue;
    }
    const Bytes encoded = sample.fields[static_cast<std::size_t>(view.field)];
    std::vector<ObjectBox> looked_at;
    const Finished finished = run_image(view.image, encoded, limits_, seen_image(view, sample, looked_at), sample.draw);
    const MutableBytes out = place(i, Plan::image_shape_of(view, finished.size));
    assert(finished.tensor.size() == out.size());
    std::copy(finished.tensor.begin(), finished.tensor.end(), out.begin());
  }
  functions_.run(sample.draw, outputs);
}

}  // namespace stoker
