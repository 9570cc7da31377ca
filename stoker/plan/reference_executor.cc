#include "stoker/plan/reference_executor.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/codec/plain_decode.h"
#include "stoker/ops/pass_order.h"
#include "stoker/ops/taps.h"
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

  Picture(int w, int h)
      : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * kRgb) {}

  std::uint8_t& at(int x, int y, int channel) {
    return pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * kRgb +
                  static_cast<std::size_t>(channel)];
  }
};

// Exif: which pixel of the stored image stands at (x, y) of the upright one.
Picture upright(Picture stored, Orientation orientation) {
  if (orientation == 1) return stored;
  const bool transposed = orientation >= 5;
  Picture result(transposed ? stored.height : stored.width, transposed ? stored.width : stored.height);
  const int right = stored.width - 1, bottom = stored.height - 1;
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      int from_x = x, from_y = y;
      switch (orientation) {
        case 2: from_x = right - x; break;
        case 3:
          from_x = right - x;
          from_y = bottom - y;
          break;
        case 4: from_y = bottom - y; break;
        case 5:
          from_x = y;
          from_y = x;
          break;
        case 6:
          from_x = y;
          from_y = bottom - x;
          break;
        case 7:
          from_x = right - y;
          from_y = bottom - x;
          break;
        case 8:
          from_x = right - y;
          from_y = x;
          break;
        default: break;
      }
      for (int c = 0; c < kRgb; ++c) result.at(x, y, c) = stored.at(from_x, from_y, c);
    }
  }
  return result;
}

Picture crop(Picture& image, const AxisMap& x_axis, const AxisMap& y_axis) {
  Picture result(x_axis.clamp_end - x_axis.clamp_begin, y_axis.clamp_end - y_axis.clamp_begin);
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      for (int c = 0; c < kRgb; ++c) result.at(x, y, c) = image.at(x_axis.clamp_begin + x, y_axis.clamp_begin + y, c);
    }
  }
  return result;
}

// The axis as if the whole virtual target were shown, unflipped, of a source that was already cropped.
AxisTaps whole_target_taps(AxisMap axis, Filter filter) {
  axis.clamp_end -= axis.clamp_begin;
  axis.clamp_begin = 0;
  axis.window_begin = 0;
  axis.length = axis.target;
  axis.flip = false;
  AxisTaps taps;
  build_taps(axis, filter, taps);
  return taps;
}

std::uint8_t weighted(std::int64_t sum) {
  const std::int64_t rounded = (sum + (std::int64_t{1} << (kTapBits - 1))) >> kTapBits;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(rounded, 0, 255));
}

Picture resize_columns(Picture& image, const AxisTaps& taps) {
  Picture result(taps.outputs, image.height);
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      const auto weights = taps.weights_of(x);
      const int first = taps.first[static_cast<std::size_t>(x)];
      for (int c = 0; c < kRgb; ++c) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
          sum += std::int64_t{weights[k]} * image.at(first + static_cast<int>(k), y, c);
        result.at(x, y, c) = weighted(sum);
      }
    }
  }
  return result;
}

Picture resize_rows(Picture& image, const AxisTaps& taps) {
  Picture result(image.width, taps.outputs);
  for (int y = 0; y < result.height; ++y) {
    const auto weights = taps.weights_of(y);
    const int first = taps.first[static_cast<std::size_t>(y)];
    for (int x = 0; x < result.width; ++x) {
      for (int c = 0; c < kRgb; ++c) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
          sum += std::int64_t{weights[k]} * image.at(x, first + static_cast<int>(k), c);
        result.at(x, y, c) = weighted(sum);
      }
    }
  }
  return result;
}

// The target's column that output o shows.
int shown(const AxisMap& axis, int o) { return axis.window_begin + (axis.flip ? axis.length - 1 - o : o); }

Picture window(Picture& target, const SamplingMap& map) {
  Picture result(map.width(), map.height());
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      const int from_x = shown(map.x, x), from_y = shown(map.y, y);
      const bool inside = from_x >= 0 && from_x < target.width && from_y >= 0 && from_y < target.height;
      for (int c = 0; c < kRgb; ++c) {
        result.at(x, y, c) = inside ? target.at(from_x, from_y, c) : map.fill[static_cast<std::size_t>(c)];
      }
    }
  }
  return result;
}

void store_rounded(float value, DType dtype, std::uint8_t* out) {
  switch (dtype) {
    case DType::kU8: *out = u8_from_f32(value); return;
    case DType::kF32: std::memcpy(out, &value, sizeof(value)); return;
    case DType::kF16:
    case DType::kBF16: {
      const std::uint16_t bits = dtype == DType::kF16 ? f16_from_f32(value) : bf16_from_f32(value);
      std::memcpy(out, &bits, sizeof(bits));
      return;
    }
    case DType::kI64: break;
  }
  assert(false && "images cannot be stored as i64");
}

void finish(Picture& image, const ColorMap& color, TensorFormat format, std::uint8_t* out) {
  const std::size_t size = size_of(format.dtype);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < kRgb; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const float product = static_cast<float>(image.at(x, y, color.from[channel])) * color.scale[channel];
        const float value = product + color.bias[channel];
        const int element = format.layout == Layout::kNchw ? (c * image.height + y) * image.width + x
                                                           : (y * image.width + x) * kRgb + c;
        store_rounded(value, format.dtype, out + static_cast<std::size_t>(element) * size);
      }
    }
  }
}

Picture run_geometry(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SampleDraw& draw) {
  PlainImage decoded = decode_plain_rgb(encoded, limits);
  Picture stored(decoded.facts.width, decoded.facts.height);
  stored.pixels = std::move(decoded.rgb);
  Picture image =
      upright(std::move(stored), program.decode.apply_orientation ? decoded.facts.orientation : Orientation{1});
  const SamplingMap map = program.geometry.draw({image.width, image.height}, draw);
  Picture cropped = crop(image, map.x, map.y);
  const AxisTaps across = whole_target_taps(map.x, map.filter), down = whole_target_taps(map.y, map.filter);
  const bool vertical_first = pass_order(map, program.decode.pillow) == PassOrder::kVerticalFirst;
  Picture between = vertical_first ? resize_rows(cropped, down) : resize_columns(cropped, across);
  Picture target = vertical_first ? resize_columns(between, across) : resize_rows(between, down);
  return window(target, map);
}

// What a view of images comes to: its tensor, and the size of that.
struct Finished {
  ImageSize size;
  std::vector<std::uint8_t> tensor;
};

Finished run_faithful(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SampleDraw& draw) {
  Picture image = run_geometry(program, encoded, limits, draw);
  Finished finished{{image.width, image.height},
                    std::vector<std::uint8_t>(image.pixels.size() * size_of(program.format.dtype))};
  finish(image, program.color, program.format, finished.tensor.data());
  return finished;
}

// Columns become rows.
ReferencePlane transposed(const ReferencePlane& plane) {
  ReferencePlane result{plane.height, plane.width, plane.down, plane.across, {}};
  for (int x = 0; x < plane.width; ++x) {
    for (int y = 0; y < plane.height; ++y) {
      result.samples.push_back(plane.samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(plane.width) +
                                             static_cast<std::size_t>(x)]);
    }
  }
  return result;
}

Finished run_planar(const ImageProgram& program, Bytes encoded, std::vector<PlainPlane> decoded,
                    const DecodeLimits& limits, const SampleDraw& draw) {
  std::vector<ReferencePlane> planes;
  planes.reserve(decoded.size());
  for (PlainPlane& plane : decoded) {
    planes.push_back({plane.width, plane.height, plane.across, plane.down, std::move(plane.samples)});
  }
  const ImageFacts facts = AnyImageDecoder(limits).read_facts(encoded);
  const Turn turn = turn_of(program.decode.apply_orientation ? facts.orientation : Orientation{1});
  const SamplingMap map = program.geometry.draw(
      turn.transpose ? ImageSize{facts.height, facts.width} : ImageSize{facts.width, facts.height}, draw);
  std::vector<ReferencePlane> resized = reference_planar_geometry(planes, map.stored(turn, facts.width, facts.height));
  if (turn.transpose) {
    for (ReferencePlane& plane : resized) plane = transposed(plane);
  }
  return {{map.width(), map.height()}, reference_planar_color(resized, program.color, program.format)};
}

Finished run_image(const ImageProgram& program, Bytes encoded, const DecodeLimits& limits, const SampleDraw& draw) {
  if (program.decode.mode == DecodeMode::kPlanar) {
    std::vector<PlainPlane> planes = decode_plain_planes(encoded, limits);
    if (!planes.empty()) return run_planar(program, encoded, std::move(planes), limits, draw);
  }
  return run_faithful(program, encoded, limits, draw);
}

}  // namespace

std::vector<OutputSpec> ReferenceExecutor::shapes(const SampleInput& sample) {
  std::vector<OutputSpec> specs;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) {
      specs.push_back(Plan::scalar_output(view));
      continue;
    }
    const Bytes encoded = sample.fields[static_cast<std::size_t>(view.field)];
    specs.push_back(Plan::image_output(view, run_image(view.image, encoded, limits_, sample.draw).size));
  }
  return specs;
}

void ReferenceExecutor::run(const SampleInput& sample, std::span<const MutableBytes> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind != ViewKind::kImage) {
      write_scalar(view, sample, outputs[i]);
      continue;
    }
    const Bytes encoded = sample.fields[static_cast<std::size_t>(view.field)];
    const Finished finished = run_image(view.image, encoded, limits_, sample.draw);
    assert(finished.tensor.size() == outputs[i].size());
    std::copy(finished.tensor.begin(), finished.tensor.end(), outputs[i].begin());
  }
}

}  // namespace stoker
