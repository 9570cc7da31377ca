// The operators on arrays, for the operator table: their arguments, and what each adds to a program.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/ops/array/array_program.h"
#include "stoker/ops/operator_arguments.h"

namespace stoker {
namespace {

constexpr double kExtentMax = 1 << 30, kNumberMax = 1e18;
constexpr auto kAxes = static_cast<double>(ArrayLayout::kAxesMax);
constexpr unsigned kCountsOfAxes = (1u << (ArrayLayout::kAxesMax + 1)) - 2;  // 1 to as many as there are
constexpr unsigned kCountsOfChannels = ~1u;

constexpr ArgSpec array_p_arg() { return chance_arg("p", "probability", 1); }

constexpr ArgSpec kDecodeArrayArgs[] = {
    text_arg("dtype",
             "element type of the output: float types round the stored numbers, other types must be able to hold each "
             "of them",
             "u8|i8|u16|i16|u32|i32|u64|i64|f16|bf16|f32|f64|bool", "f32"),
    {.name = "shape",
     .type = ArgType::kIntegers,
     .doc = "extents of the stored array, -1: any; by default it has as many axes as array_crop crops, of any extent",
     .count = 0,
     .min = ArrayProgram::kAny,
     .max = kExtentMax,
     .counts = kCountsOfAxes | kCountNone},
    {.name = "most",
     .type = ArgType::kInteger,
     .doc = "the largest first extent, where that is any and is not cropped",
     .numbers = {4096},
     .min = 1,
     .max = kExtentMax},
    {.name = "fill",
     .type = ArgType::kNumber,
     .doc = "value outside the array, in units of the stored numbers",
     .numbers = {0},
     .min = -kNumberMax,
     .max = kNumberMax},
};
constexpr ArgSpec kArrayCropArgs[] = {
    {.name = "size",
     .type = ArgType::kIntegers,
     .doc = "extents of the last axes; -1: the whole axis",
     .required = true,
     .min = ArrayProgram::kWhole,
     .max = kExtentMax,
     .counts = kCountsOfAxes},
    text_arg("place", "where the box lies", "random|center|begin", "random"),
    text_arg("smaller",
             "what happens to smaller arrays: pad: they are filled up on both sides (at the end for place='begin'); "
             "refuse: they are bad samples",
             "pad|refuse", "pad"),
    {.name = "around",
     .type = ArgType::kText,
     .doc = "another field, with an array of classes: draws one of its positive numbers, then one of its places, and "
            "centres the crop there",
     .later = true},
    {.name = "p",
     .type = ArgType::kNumber,
     .doc = "probability that a crop is drawn around such a place; others lie anywhere",
     .numbers = {1},
     .min = 0,
     .max = 1,
     .later = true},
};
constexpr ArgSpec kArrayFlipArgs[] = {
    {.name = "axes",
     .type = ArgType::kIntegers,
     .doc = "the axes: 0 is the first one, -1 the last",
     .required = true,
     .min = -kAxes,
     .max = kAxes - 1,
     .counts = kCountsOfAxes},
    chance_arg("p", "probability, drawn for each axis", 0.5),
};
constexpr ArgSpec bound_arg(std::string_view name, std::string_view doc) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .required = true, .min = -kNumberMax, .max = kNumberMax};
}
constexpr ArgSpec kArrayClipArgs[] = {bound_arg("low", "the smallest number"), bound_arg("high", "the largest number")};
constexpr ArgSpec kArrayNormalizeArgs[] = {
    {.name = "mean",
     .type = ArgType::kNumbers,
     .doc = "the mean: one number, or one per channel (index of the first axis)",
     .required = true,
     .min = -kNumberMax,
     .max = kNumberMax,
     .counts = kCountsOfChannels},
    {.name = "std",
     .type = ArgType::kNumbers,
     .doc = "the standard deviation: one number, or one per channel",
     .required = true,
     .min = 1e-18,
     .max = kNumberMax,
     .counts = kCountsOfChannels},
};
constexpr ArgSpec kArrayStandardizeArgs[] = {text_arg(
    "per", "sample: over the whole array; channel: for each index of the first axis", "sample|channel", "sample")};
constexpr ArgSpec kArrayBrightnessArgs[] = {{.name = "factor",
                                             .type = ArgType::kNumbers,
                                             .doc = "the factor; [low, high] draws one for each sample",
                                             .required = true,
                                             .min = -kNumberMax,
                                             .max = kNumberMax,
                                             .counts = kCountOne | kCountTwo},
                                            array_p_arg()};
constexpr ArgSpec kArrayNoiseArgs[] = {{.name = "sigma",
                                        .type = ArgType::kNumbers,
                                        .doc = "standard deviation; [low, high] draws one for each sample",
                                        .numbers = {0, 0.1},
                                        .count = 2,
                                        .min = 0,
                                        .max = kNumberMax,
                                        .counts = kCountOne | kCountTwo},
                                       {.name = "mean",
                                        .type = ArgType::kNumber,
                                        .doc = "mean of the noise",
                                        .numbers = {0},
                                        .min = -kNumberMax,
                                        .max = kNumberMax},
                                       array_p_arg()};

std::vector<std::int64_t> extents_of(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

[[noreturn]] void refuse_order(std::string_view before) {
  fail(ErrorKind::kUsage, "it must come before {}; the order is decode_array, array_crop, array_flip, the others",
       before);
}

void decode_array(const OperatorCall& call, ArrayProgram& program, std::uint64_t /*stream*/) {
  program.dtype = parse_dtype(call.text("dtype"));
  if (!call.numbers("shape").empty()) program.shape = extents_of(call.numbers("shape"));
  program.most = call.integer("most");
  program.fill = call.number("fill");
}

void array_crop(const OperatorCall& call, ArrayProgram& program, std::uint64_t stream) {
  if (program.crop) fail(ErrorKind::kUsage, "there is one already");
  if (!program.flips.empty()) refuse_order("array_flip");
  if (!program.steps.empty()) refuse_order("what changes numbers");
  ArrayCrop& crop = program.crop.emplace();
  crop.size = extents_of(call.numbers("size"));
  if (std::find(crop.size.begin(), crop.size.end(), 0) != crop.size.end()) {
    fail(ErrorKind::kUsage, "a crop cannot be 0 long");
  }
  const std::string& place = call.text("place");
  crop.place = place == "random" ? CropPlace::kRandom : place == "center" ? CropPlace::kCenter : CropPlace::kBegin;
  crop.pads = call.text("smaller") == "pad";
  crop.around = call.text("around");
  crop.around_p = call.number("p");
  if (!crop.around.empty() && crop.place != CropPlace::kRandom) {
    fail(ErrorKind::kUsage, "a crop that is drawn around something has a random place");
  }
  crop.stream = stream;
}

void array_flip(const OperatorCall& call, ArrayProgram& program, std::uint64_t stream) {
  if (!program.steps.empty()) refuse_order("what changes numbers");
  ArrayFlip flip{.p = call.number("p"), .stream = stream};
  const auto rank = static_cast<std::int64_t>(program.rank());
  for (const std::int64_t axis : extents_of(call.numbers("axes"))) {
    if (axis >= rank || axis < -rank) {
      fail(ErrorKind::kUsage, "there is no axis {}: say how many there are by shape, or by array_crop before it", axis);
    }
    flip.axes.push_back(static_cast<std::size_t>(axis < 0 ? -axis - 1 : rank - 1 - axis));
  }
  program.flips.push_back(std::move(flip));
}

std::vector<float> floats_of(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

void array_clip(const OperatorCall& call, ArrayProgram& program, std::uint64_t /*stream*/) {
  const double low = call.number("low"), high = call.number("high");
  if (low > high) fail(ErrorKind::kUsage, "low must not be more than high");
  program.steps.push_back({.kind = ArrayStep::Kind::kClip, .low = floats_of({low}), .high = floats_of({high})});
}

void array_normalize(const OperatorCall& call, ArrayProgram& program, std::uint64_t /*stream*/) {
  const std::vector<double>&mean = call.numbers("mean"), &std = call.numbers("std");
  const std::size_t count = std::max(mean.size(), std.size());
  if ((mean.size() != 1 && mean.size() != count) || (std.size() != 1 && std.size() != count)) {
    fail(ErrorKind::kUsage, "mean has {} numbers, and std {}", mean.size(), std.size());
  }
  ArrayStep step{.kind = ArrayStep::Kind::kScale, .low = {}, .high = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const double deviation = std[std.size() == 1 ? 0 : i];
    step.low.push_back(static_cast<float>(1 / deviation));
    step.high.push_back(static_cast<float>(-mean[mean.size() == 1 ? 0 : i] / deviation));
  }
  program.steps.push_back(std::move(step));
}

void array_standardize(const OperatorCall& call, ArrayProgram& program, std::uint64_t /*stream*/) {
  program.steps.push_back({.kind = ArrayStep::Kind::kStandardize, .by_channel = call.text("per") == "channel"});
}

// A number, or a range to draw from.
void take_range(const std::vector<double>& numbers, std::string_view what, ArrayStep& step) {
  if (numbers.front() > numbers.back()) fail(ErrorKind::kUsage, "the range of {} must begin with the lesser one", what);
  step.low = floats_of({numbers.front()});
  step.high = floats_of({numbers.back()});
}

void array_brightness(const OperatorCall& call, ArrayProgram& program, std::uint64_t stream) {
  ArrayStep step{.kind = ArrayStep::Kind::kFactor, .p = call.number("p"), .stream = stream};
  take_range(call.numbers("factor"), "factor", step);
  program.steps.push_back(std::move(step));
}

void array_noise(const OperatorCall& call, ArrayProgram& program, std::uint64_t stream) {
  ArrayStep step{.kind = ArrayStep::Kind::kNoise, .p = call.number("p"), .stream = stream};
  step.mean = static_cast<float>(call.number("mean"));
  take_range(call.numbers("sigma"), "sigma", step);
  program.steps.push_back(std::move(step));
}

constexpr OperatorSpec kArrayOperators[] = {
    {"decode_array", "decodes an array of numbers, as numpy writes it", &decode_array, kDecodeArrayArgs,
     "dtype = 'f16', shape = [1, -1, -1, -1]"},
    {"array_crop", "crops a box of an array; of uncompressed arrays it reads only the box", &array_crop, kArrayCropArgs,
     "size = [96, 96, 96] | size = [64, 64], place = 'center', smaller = 'refuse'"},
    {"array_flip", "reverses axes of an array with a given probability", &array_flip, kArrayFlipArgs,
     "axes = [-1, -2]"},
    {"array_clip", "clips the numbers of an array to a range", &array_clip, kArrayClipArgs, "low = -1000, high = 400"},
    {"array_normalize", "(number - mean) / std, in float32", &array_normalize, kArrayNormalizeArgs,
     "mean = 40, std = 250"},
    {"array_standardize", "scales an array to mean 0 and standard deviation 1", &array_standardize,
     kArrayStandardizeArgs, "per = 'channel'"},
    {"array_brightness", "multiplies an array by a factor", &array_brightness, kArrayBrightnessArgs,
     "factor = [0.7, 1.3]"},
    {"array_noise", "adds normal noise to an array", &array_noise, kArrayNoiseArgs, "sigma = [0, 0.33], p = 0.15"},
};

}  // namespace

std::span<const OperatorSpec> array_operators() { return kArrayOperators; }

}  // namespace stoker
