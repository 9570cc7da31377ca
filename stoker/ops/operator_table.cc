#include "stoker/ops/operator_table.h"

#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr unsigned kCountNone = 1u << 0, kCountOne = 1u << 1, kCountTwo = 1u << 2, kCountThree = 1u << 3,
                   kCountFour = 1u << 4;
constexpr double kSideMax = 65'535;

/// Required where it has no default.
constexpr ArgSpec text_arg(std::string_view name, std::string_view doc, std::string_view choices,
                           std::string_view by_default = {}) {
  return {.name = name,
          .type = ArgType::kText,
          .doc = doc,
          .required = by_default.empty(),
          .text = by_default,
          .choices = choices};
}
constexpr ArgSpec filter_arg() {
  return text_arg("filter", "Pillow's filter, antialiased when shrinking", "nearest|box|bilinear|bicubic", "bilinear");
}
constexpr ArgSpec size_arg(std::string_view doc) {
  return {.name = "size",
          .type = ArgType::kIntegers,
          .doc = doc,
          .required = true,
          .min = 1,
          .max = kSideMax,
          .counts = kCountOne | kCountTwo};
}
constexpr ArgSpec fill_arg() {
  return {.name = "fill",
          .type = ArgType::kIntegers,
          .doc = "colour of padding: one number, or one per channel",
          .min = 0,
          .max = 255,
          .counts = kCountOne | kCountThree};
}
constexpr ArgSpec axis_arg() {
  return text_arg("axis", "horizontal mirrors left to right", "horizontal|vertical", "horizontal");
}
constexpr ArgSpec integer_arg(std::string_view name, std::string_view doc, double min) {
  return {.name = name, .type = ArgType::kInteger, .doc = doc, .required = true, .min = min, .max = kSideMax};
}

constexpr ArgSpec operators_arg(std::string_view doc) {
  return {.name = kCombinedOperators,
          .type = ArgType::kOperators,
          .doc = doc,
          .required = true,
          .min = 1,
          .max = Combination::kMembersMax};
}

constexpr ArgSpec kDecodeArgs[] = {
    text_arg(
        "mode",
        "planar: resamples each plane of a JPEG directly; faithful: pixels of libjpeg and of Pillow 9.4 to 12.1, or of "
        "the later version in the name",
        "planar|faithful|faithful:12.2|faithful:13", "planar"),
    text_arg("orientation", "apply orients the image by its Exif data", "ignore|apply", "ignore"),
};
constexpr ArgSpec kResizeArgs[] = {size_arg("the short side's length, or [height, width]"), filter_arg()};
constexpr ArgSpec kCropArgs[] = {integer_arg("x", "left column", 0), integer_arg("y", "top row", 0),
                                 integer_arg("width", "columns", 1), integer_arg("height", "rows", 1)};
constexpr ArgSpec kCenterCropArgs[] = {size_arg("a square's side, or [height, width]"), fill_arg()};
constexpr ArgSpec kCornerCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    text_arg("corner", "where the window lies", "top_left|top_right|bottom_left|bottom_right|center")};
constexpr ArgSpec kFiveCropArgs[] = {size_arg("a square's side, or [height, width]")};
constexpr ArgSpec kTenCropArgs[] = {size_arg("a square's side, or [height, width]"), axis_arg()};
constexpr ArgSpec kRandomCropArgs[] = {size_arg("a square's side, or [height, width]"),
                                       {.name = "padding",
                                        .type = ArgType::kInteger,
                                        .doc = "border added around the image first",
                                        .min = 0,
                                        .max = kSideMax},
                                       fill_arg()};
constexpr ArgSpec kRandomResizedCropArgs[] = {size_arg("a square's side, or [height, width]"),
                                              {.name = "scale",
                                               .type = ArgType::kNumbers,
                                               .doc = "least and largest fraction of the image's area",
                                               .numbers = {0.08, 1},
                                               .count = 2,
                                               .min = 1e-6,
                                               .max = 1,
                                               .counts = kCountTwo},
                                              {.name = "ratio",
                                               .type = ArgType::kNumbers,
                                               .doc = "least and largest width / height",
                                               .numbers = {3.0 / 4, 4.0 / 3},
                                               .count = 2,
                                               .min = 1e-3,
                                               .max = 1e3,
                                               .counts = kCountTwo},
                                              filter_arg()};
constexpr ArgSpec kFlipArgs[] = {axis_arg()};
constexpr ArgSpec kRandomFlipArgs[] = {
    {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {0.5}, .min = 0, .max = 1}, axis_arg()};
constexpr ArgSpec kPadArgs[] = {{.name = "padding",
                                 .type = ArgType::kIntegers,
                                 .doc = "all sides, [horizontal, vertical], or [left, top, right, bottom]",
                                 .required = true,
                                 .min = 0,
                                 .max = kSideMax,
                                 .counts = kCountOne | kCountTwo | kCountFour},
                                fill_arg()};
constexpr ArgSpec kZoomOutArgs[] = {
    size_arg("a square's side, or [height, width]"),
    {.name = "side_range",
     .type = ArgType::kNumbers,
     .doc = "least and largest side of the canvas, in sides of the image",
     .numbers = {1, 4},
     .count = 2,
     .min = 1,
     .max = 1000,
     .counts = kCountTwo},
    {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {0.5}, .min = 0, .max = 1},
    filter_arg(),
    fill_arg()};
constexpr ArgSpec kScaleJitterArgs[] = {size_arg("a square's side, or [height, width]"),
                                        {.name = "scale",
                                         .type = ArgType::kNumbers,
                                         .doc = "least and largest size, where at 1 the image just fits",
                                         .numbers = {0.1, 2},
                                         .count = 2,
                                         .min = 1e-3,
                                         .max = 10,
                                         .counts = kCountTwo},
                                        filter_arg(),
                                        fill_arg()};
/// A number, or [low, high] between which one is drawn for each picture.
constexpr ArgSpec drawn_arg(std::string_view name, std::string_view doc, double min, double max) {
  return {.name = name,
          .type = ArgType::kNumbers,
          .doc = doc,
          .required = true,
          .min = min,
          .max = max,
          .counts = kCountOne | kCountTwo};
}
constexpr double kFactorMax = 100;
constexpr ArgSpec kFactorArgs[] = {
    drawn_arg("factor", "1 changes nothing; [low, high] draws a factor for each picture", 0, kFactorMax)};
constexpr ArgSpec kHueArgs[] = {
    drawn_arg("factor", "turns, from red towards green; [low, high] draws a factor for each picture", -0.5, 0.5)};
constexpr ArgSpec jitter_arg(std::string_view name, std::string_view doc, double min, double max) {
  return {.name = name, .type = ArgType::kNumbers, .doc = doc, .min = min, .max = max, .counts = kCountOne | kCountTwo};
}
constexpr std::string_view kJitterDoc = "v draws a factor from max(0, 1 - v) to 1 + v, [low, high] from low to high";
constexpr ArgSpec kColorJitterArgs[] = {
    jitter_arg("brightness", kJitterDoc, 0, kFactorMax), jitter_arg("contrast", kJitterDoc, 0, kFactorMax),
    jitter_arg("saturation", kJitterDoc, 0, kFactorMax),
    jitter_arg("hue", "v draws turns from -v to v, [low, high] from low to high", -0.5, 0.5)};
constexpr ArgSpec p_arg(double by_default) {
  return {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {by_default}, .min = 0, .max = 1};
}
constexpr ArgSpec kRandomGrayscaleArgs[] = {p_arg(0.1)};
constexpr ArgSpec kChanceArgs[] = {p_arg(0.5)};
constexpr ArgSpec bits_arg() {
  return {.name = "bits",
          .type = ArgType::kInteger,
          .doc = "the highest bits of each value, which are kept",
          .required = true,
          .min = 0,
          .max = 8};
}
constexpr ArgSpec kPosterizeArgs[] = {bits_arg()};
constexpr ArgSpec kRandomPosterizeArgs[] = {bits_arg(), p_arg(0.5)};
constexpr ArgSpec threshold_arg() {
  return {.name = "threshold",
          .type = ArgType::kNumber,
          .doc = "the lowest value that is inverted",
          .required = true,
          .min = 0,
          .max = 256};
}
constexpr ArgSpec kSolarizeArgs[] = {threshold_arg()};
constexpr ArgSpec kRandomSolarizeArgs[] = {threshold_arg(), p_arg(0.5)};
constexpr ArgSpec kGammaArgs[] = {
    drawn_arg("gamma", "the exponent; [low, high] draws one for each picture", 0, kFactorMax),
    {.name = "gain", .type = ArgType::kNumber, .doc = "factor of the result", .numbers = {1}, .min = 0, .max = 100}};
constexpr ArgSpec kChannelDropoutArgs[] = {{.name = "channels",
                                            .type = ArgType::kIntegers,
                                            .doc = "how many are filled; [low, high] draws how many",
                                            .numbers = {1},
                                            .min = 1,
                                            .max = 3,
                                            .counts = kCountOne | kCountTwo},
                                           {.name = "fill",
                                            .type = ArgType::kIntegers,
                                            .doc = "the new value: one number, or one per channel",
                                            .min = 0,
                                            .max = 255,
                                            .counts = kCountOne | kCountThree},
                                           p_arg(0.5)};
constexpr ArgSpec kChannelAffineArgs[] = {{.name = "scale",
                                           .type = ArgType::kNumbers,
                                           .doc = "factor: one number, or one per channel",
                                           .numbers = {1},
                                           .min = -kFactorMax,
                                           .max = kFactorMax,
                                           .counts = kCountOne | kCountThree},
                                          {.name = "bias",
                                           .type = ArgType::kNumbers,
                                           .doc = "added afterwards: one number, or one per channel",
                                           .min = -255 * kFactorMax,
                                           .max = 255 * kFactorMax,
                                           .counts = kCountOne | kCountThree}};
constexpr ArgSpec kLightingArgs[] = {{.name = "alphastd",
                                      .type = ArgType::kNumber,
                                      .doc = "standard deviation, in units of the data's along each component",
                                      .numbers = {0.1},
                                      .min = 0,
                                      .max = 100}};
constexpr ArgSpec kGaussianBlurArgs[] = {
    {.name = "kernel_size",
     .type = ArgType::kIntegers,
     .doc = "columns and rows that a pixel is a mean of, odd: one number, or [width, height]",
     .required = true,
     .min = 1,
     .max = 127,
     .counts = kCountOne | kCountTwo},
    {.name = "sigma",
     .type = ArgType::kNumbers,
     .doc = "standard deviation in pixels; [low, high] draws one for each picture",
     .numbers = {0.1, 2},
     .count = 2,
     .min = 0.01,
     .max = 1000,
     .counts = kCountOne | kCountTwo}};
constexpr ArgSpec sharpness_arg() {
  return drawn_arg("factor", "0 smooths, 1 changes nothing, 2 sharpens; [low, high] draws a factor for each picture", 0,
                   kFactorMax);
}
constexpr ArgSpec kSharpnessArgs[] = {sharpness_arg()};
constexpr ArgSpec kRandomSharpnessArgs[] = {sharpness_arg(), p_arg(0.5)};
constexpr ArgSpec kGaussianNoiseArgs[] = {
    {.name = "mean", .type = ArgType::kNumber, .doc = "of the noise, as a fraction of white", .min = -1, .max = 1},
    {.name = "sigma",
     .type = ArgType::kNumbers,
     .doc = "standard deviation as a fraction of white; [low, high] draws one for each picture",
     .numbers = {0.1},
     .min = 0,
     .max = 10,
     .counts = kCountOne | kCountTwo}};
constexpr ArgSpec kShotNoiseArgs[] = {drawn_arg(
    "photons", "photons that make white: fewer are noisier; [low, high] draws a number for each picture", 1, 1000)};
constexpr ArgSpec kSaltAndPepperArgs[] = {
    drawn_arg("amount", "fraction of the pixels that become white or black; [low, high] draws it for each picture", 0,
              1),
    {.name = "ratio",
     .type = ArgType::kNumbers,
     .doc = "fraction of those that become white; [low, high] draws it for each picture",
     .numbers = {0.5},
     .min = 0,
     .max = 1,
     .counts = kCountOne | kCountTwo}};
constexpr ArgSpec kJpegDegradeArgs[] = {{.name = "quality",
                                         .type = ArgType::kIntegers,
                                         .doc = "libjpeg's quality; [low, high] draws one for each picture",
                                         .required = true,
                                         .min = 1,
                                         .max = 100,
                                         .counts = kCountOne | kCountTwo}};
// Arguments of warps. Angles are in degrees.
constexpr double kDegreesMax = 36'000, kShearMax = 89, kPointMax = 1e6;
constexpr ArgSpec warp_filter_arg(std::string_view by_default) {
  return text_arg("filter", "how the picture is read between its pixels", "nearest|bilinear|bicubic", by_default);
}
constexpr ArgSpec warp_fill_arg() {
  ArgSpec arg = fill_arg();
  arg.doc = "colour of what lies outside: one number, or one per channel";
  return arg;
}
constexpr ArgSpec center_arg() {
  return {.name = "center",
          .type = ArgType::kNumbers,
          .doc = "point that stays, [x, y] in pixels from the upper left corner; without it, the middle",
          .count = 0,
          .min = -kPointMax,
          .max = kPointMax,
          .counts = kCountNone | kCountTwo};
}
constexpr ArgSpec symmetric_degrees_arg() {
  return {.name = "degrees",
          .type = ArgType::kNumbers,
          .doc = "an angle is drawn from [low, high]; one number d means [-d, d]",
          .required = true,
          .min = -kDegreesMax,
          .max = kDegreesMax,
          .counts = kCountOne | kCountTwo};
}
constexpr ArgSpec kRotateArgs[] = {
    drawn_arg("degrees", "angle, anticlockwise; [low, high] draws one for each picture", -kDegreesMax, kDegreesMax),
    warp_filter_arg("nearest"), warp_fill_arg(), center_arg()};
constexpr ArgSpec kRandomRotationArgs[] = {symmetric_degrees_arg(), warp_filter_arg("nearest"), warp_fill_arg(),
                                           center_arg()};
constexpr ArgSpec kAffineArgs[] = {
    {.name = "angle",
     .type = ArgType::kNumber,
     .doc = "rotation in degrees, clockwise",
     .min = -kDegreesMax,
     .max = kDegreesMax},
    {.name = "translate",
     .type = ArgType::kNumbers,
     .doc = "shift in pixels, [right, down]",
     .count = 2,
     .min = -kPointMax,
     .max = kPointMax,
     .counts = kCountTwo},
    {.name = "scale", .type = ArgType::kNumber, .doc = "factor of size", .numbers = {1}, .min = 1e-3, .max = 1e3},
    {.name = "shear",
     .type = ArgType::kNumbers,
     .doc = "angle in degrees along x, or [along x, along y]",
     .min = -kShearMax,
     .max = kShearMax,
     .counts = kCountOne | kCountTwo},
    warp_filter_arg("nearest"),
    warp_fill_arg(),
    center_arg()};
constexpr ArgSpec kRandomAffineArgs[] = {
    symmetric_degrees_arg(),
    {.name = "translate",
     .type = ArgType::kNumbers,
     .doc = "largest shift either way, as fractions of [width, height]; whole pixels are drawn",
     .count = 2,
     .max = 1,
     .counts = kCountTwo},
    {.name = "scale",
     .type = ArgType::kNumbers,
     .doc = "factor of size; [low, high] draws one for each picture",
     .numbers = {1},
     .min = 1e-3,
     .max = 1e3,
     .counts = kCountOne | kCountTwo},
    {.name = "shear",
     .type = ArgType::kNumbers,
     .doc =
         "an angle along x is drawn from [low, high], or [-d, d] of one number d; with two more numbers, one along y",
     .min = -kShearMax,
     .max = kShearMax,
     .counts = kCountOne | kCountTwo | kCountFour},
    warp_filter_arg("nearest"),
    warp_fill_arg(),
    center_arg()};
constexpr ArgSpec kShearArgs[] = {
    drawn_arg("factor", "shift per pixel from the upper left corner; [low, high] draws one for each picture", -10, 10),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec way_arg(std::string_view name, std::string_view doc, double most) {
  ArgSpec arg = drawn_arg(name, doc, -most, most);
  arg.required = false;
  return arg;
}
constexpr ArgSpec kTranslateArgs[] = {
    way_arg("pixels", "shift in pixels, right or down; [low, high] draws one for each picture", kPointMax),
    way_arg("fraction", "shift as a fraction of the picture's side, added to pixels; [low, high] draws one", 1),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec points_arg(std::string_view name, std::string_view doc, bool required) {
  return {.name = name,
          .type = ArgType::kNumbers,
          .doc = doc,
          .required = required,
          .count = 0,
          .min = -kPointMax,
          .max = kPointMax,
          .counts = required ? 1u << 8 : kCountNone | 1u << 8};
}
constexpr ArgSpec kPerspectiveArgs[] = {
    points_arg("endpoints", "where four points of the picture come to lie: x and y of each, in pixels", true),
    points_arg("startpoints", "these points; without them the corners, clockwise from the upper left one", false),
    warp_filter_arg("bilinear"), warp_fill_arg()};
constexpr ArgSpec kRandomPerspectiveArgs[] = {
    {.name = "distortion_scale",
     .type = ArgType::kNumber,
     .doc = "how far corners may move inwards, as a fraction of half the sides",
     .numbers = {0.5},
     .min = 0,
     .max = 1},
    p_arg(0.5),
    warp_filter_arg("bilinear"),
    warp_fill_arg()};
constexpr ArgSpec kElasticArgs[] = {{.name = "alpha",
                                     .type = ArgType::kNumbers,
                                     .doc = "strength: one number, or [of x, of y]",
                                     .numbers = {50},
                                     .min = 0,
                                     .max = 1e5,
                                     .counts = kCountOne | kCountTwo},
                                    {.name = "sigma",
                                     .type = ArgType::kNumbers,
                                     .doc = "smoothness in pixels: one number, or [of x, of y]",
                                     .numbers = {5},
                                     .min = 1,
                                     .max = 1e4,
                                     .counts = kCountOne | kCountTwo},
                                    warp_filter_arg("bilinear"),
                                    warp_fill_arg()};
constexpr ArgSpec count_arg(std::string_view name, std::string_view doc, double by_default, double min, double max) {
  return {.name = name, .type = ArgType::kInteger, .doc = doc, .numbers = {by_default}, .min = min, .max = max};
}
constexpr ArgSpec kRandAugmentArgs[] = {
    count_arg("num_ops", "operators for each picture", 2, 0, 32),
    count_arg("magnitude", "which of the magnitudes all of them have, from 0 on", 9, 0, 999),
    count_arg("num_magnitude_bins", "how many magnitudes there are", 31, 2, 1000), warp_filter_arg("nearest"),
    warp_fill_arg()};
constexpr ArgSpec kTrivialAugmentArgs[] = {
    count_arg("num_magnitude_bins", "how many magnitudes there are, of which one is drawn", 31, 2, 1000),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec kAutoAugmentArgs[] = {
    text_arg("policy", "the data set for which the policy was found", "imagenet|cifar10|svhn", "imagenet"),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec kAugMixArgs[] = {
    count_arg("severity", "how many of ten magnitudes may be drawn", 3, 1, 10),
    count_arg("mixture_width", "how many chains of operators are blended", 3, 1, 10),
    count_arg("chain_depth", "operators of a chain; by default, and below 1, 1 to 3 are drawn", -1, -1, 10),
    {.name = "alpha",
     .type = ArgType::kNumber,
     .doc = "of the distributions of the weights: beta and Dirichlet",
     .numbers = {1},
     .min = 1e-3,
     .max = 1e3},
    {.name = "all_ops",
     .type = ArgType::kFlag,
     .doc = "draws brightness, color, contrast and sharpness, too",
     .numbers = {1}},
    warp_filter_arg("bilinear"),
    warp_fill_arg()};
constexpr ArgSpec kTimmAugmentArgs[] = {
    text_arg("spec", "as timm names it: rand-m9-mstd0.5-inc1, augmix-m5-w4-d2, original-mstd0.5, v0, 3a", ""),
    warp_filter_arg("bilinear"),
    {.name = "fill",
     .type = ArgType::kIntegers,
     .doc = "colour where there is no picture: one number, or one per channel; by default ImageNet's mean",
     .numbers = {124, 116, 104},
     .count = 3,
     .min = 0,
     .max = 255,
     .counts = kCountOne | kCountThree}};
constexpr ArgSpec kNormalizeArgs[] = {
    text_arg("preset", "preset mean, std and scale of a data set", "none|imagenet|cifar10|unit", "none"),
    {.name = "mean",
     .type = ArgType::kNumbers,
     .doc = "subtracted after the division by scale: one number, or one per channel",
     .min = -1e6,
     .max = 1e6,
     .counts = kCountOne | kCountThree},
    {.name = "std",
     .type = ArgType::kNumbers,
     .doc = "final divisor: one number, or one per channel",
     .numbers = {1},
     .min = 1e-6,
     .max = 1e6,
     .counts = kCountOne | kCountThree},
    {.name = "scale",
     .type = ArgType::kNumber,
     .doc = "first divisor of the pixels",
     .numbers = {255},
     .min = 1e-6,
     .max = 1e6}};
constexpr ArgSpec kChannelOrderArgs[] = {text_arg("order", "bgr swaps red and blue", "rgb|bgr")};
constexpr ArgSpec value_arg() {
  return {.name = "value",
          .type = ArgType::kNumbers,
          .doc =
              "what is written, in units of the tensor: after normalize, 0 is the mean colour; one number, or one per "
              "channel",
          .min = -1e6,
          .max = 1e6,
          .counts = kCountOne | kCountThree};
}
constexpr ArgSpec count_arg(std::string_view name, std::string_view doc) {
  return {.name = name, .type = ArgType::kInteger, .doc = doc, .numbers = {1}, .min = 1, .max = 64};
}
constexpr ArgSpec kRandomErasingArgs[] = {
    p_arg(0.5),
    {.name = "scale",
     .type = ArgType::kNumbers,
     .doc = "least and largest fraction of the area, of all boxes together",
     .numbers = {0.02, 0.33},
     .count = 2,
     .min = 0,
     .max = 1,
     .counts = kCountTwo},
    {.name = "ratio",
     .type = ArgType::kNumbers,
     .doc = "least and largest height / width",
     .numbers = {0.3, 3.3},
     .count = 2,
     .min = 1e-3,
     .max = 1e3,
     .counts = kCountTwo},
    value_arg(),
    text_arg("mode",
             "const writes the value; rand a random colour for each box, pixel for each element: normal deviates",
             "const|rand|pixel", "const"),
    count_arg("min_count", "fewest boxes"),
    count_arg("max_count", "most boxes")};
constexpr ArgSpec kCutoutArgs[] = {size_arg("a square's side, or [height, width]"), count_arg("count", "boxes"),
                                   value_arg()};
constexpr ArgSpec kGridMaskArgs[] = {
    {.name = "d",
     .type = ArgType::kIntegers,
     .doc = "pixels from one square to the next; [low, high] draws them for each image",
     .numbers = {96, 224},
     .count = 2,
     .min = 2,
     .max = kSideMax,
     .counts = kCountOne | kCountTwo},
    {.name = "ratio",
     .type = ArgType::kNumber,
     .doc = "side of a square as a fraction of d",
     .numbers = {0.5},
     .min = 0,
     .max = 1},
    {.name = "rotate",
     .type = ArgType::kNumber,
     .doc = "degrees below which the grid's angle is drawn; 0: not turned",
     .min = 0,
     .max = 360},
    p_arg(1),
    value_arg()};
constexpr ArgSpec kCastArgs[] = {text_arg("dtype", "nearest value, ties to even; u8 clamps", "u8|f16|bf16|f32")};
constexpr ArgSpec kLayoutArgs[] = {text_arg("layout", "order of the tensor's axes", "nchw|nhwc")};

constexpr ArgSpec kJsonNumberArgs[] = {
    text_arg("key", "key of the outermost object, or a JSON pointer: /annotations/0/category", ""),
    text_arg("dtype", "of the output", "i64|f32", "i64")};

constexpr ArgSpec kOneHotArgs[] = {{.name = "classes",
                                    .type = ArgType::kInteger,
                                    .doc = "how many there are: the labels are 0 to classes - 1",
                                    .required = true,
                                    .min = 1,
                                    .max = 1e6},
                                   {.name = "smoothing",
                                    .type = ArgType::kNumber,
                                    .doc = "part of the probability that all classes share evenly",
                                    .min = 0,
                                    .max = 1}};

constexpr ArgSpec chance_arg(std::string_view name, std::string_view doc, double by_default) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 0, .max = 1};
}
constexpr ArgSpec alpha_arg(std::string_view name, std::string_view doc, double by_default) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 1e-3, .max = 1e3};
}
constexpr std::string_view kShapeDoc = "both shapes of the beta distribution that the sample's own share is drawn from";
constexpr ArgSpec pair_mode_arg() {
  return text_arg("mode", "what shares one draw: the global batch, the two partners, or nothing", "batch|pair|elem",
                  "batch");
}
constexpr ArgSpec mixed_labels_arg() {
  return text_arg("labels",
                  "soft: mixes one_hot labels; pair: adds the partner's label as label_b, and the label's own share as "
                  "lambda",
                  "soft|pair", "soft");
}
constexpr ArgSpec mixed_views_arg() {
  return text_arg("views", "the images to mix: all, or those named, as in 'image, depth'", "", "all");
}
constexpr ArgSpec kMixupArgs[] = {alpha_arg("alpha", kShapeDoc, 1), p_arg(1), pair_mode_arg(), mixed_labels_arg(),
                                  mixed_views_arg()};
constexpr ArgSpec kMixupOrCutmixArgs[] = {
    alpha_arg("mixup_alpha", "alpha of mixup", 0.8),
    alpha_arg("cutmix_alpha", "alpha of cutmix", 1),
    chance_arg("switch_prob", "probability of cutmix, if one of them is done", 0.5),
    chance_arg("prob", "probability that one of them is done", 1),
    pair_mode_arg(),
    mixed_labels_arg(),
    mixed_views_arg()};
constexpr ArgSpec kMosaicArgs[] = {
    alpha_arg("alpha", "both shapes of the beta distribution that each coordinate of the corner is drawn from", 1),
    p_arg(1),
    text_arg("mode", "what shares one draw: the global batch, the four partners, or nothing", "batch|group|elem",
             "group"),
    mixed_views_arg()};
constexpr ArgSpec kSequenceArgs[] = {operators_arg("applied one after another")};
constexpr ArgSpec kRandomApplyArgs[] = {
    operators_arg("applied one after another, or not at all"),
    {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {0.5}, .min = 0, .max = 1}};
constexpr ArgSpec kRandomChoiceArgs[] = {operators_arg("of which one is applied"),
                                         {.name = "p",
                                          .type = ArgType::kNumbers,
                                          .doc = "probability of each operator, in any unit; by default all are equal",
                                          .count = 0,
                                          .min = 0,
                                          .max = 1e6,
                                          .counts = ~0u}};
constexpr ArgSpec kRandomOrderArgs[] = {operators_arg("applied in random order")};

constexpr OperatorSpec kOperators[] = {
    {"decode", "decodes an image to 8-bit RGB pixels", &apply_decode, kDecodeArgs},
    {"resize", "resizes to a given size", &make_resize, kResizeArgs},
    {"crop", "crops a fixed window", &make_crop, kCropArgs},
    {"center_crop", "crops the centre; pads smaller images", &make_center_crop, kCenterCropArgs},
    {"corner_crop", "crops a corner or the centre", &make_corner_crop, kCornerCropArgs},
    {"random_crop", "crops a window at a random place", &make_random_crop, kRandomCropArgs},
    {"random_resized_crop", "crops a random part of random area and shape, and resizes it", &make_random_resized_crop,
     kRandomResizedCropArgs},
    {"flip", "mirrors", &make_flip, kFlipArgs},
    {"random_flip", "mirrors with a given probability", &make_random_flip, kRandomFlipArgs},
    {"pad", "adds a border of one colour", &make_pad, kPadArgs},
    {"zoom_out", "resizes to a random part of the output, amid one colour", &make_zoom_out, kZoomOutArgs},
    {"scale_jitter", "resizes at random, and crops or pads to a given size", &make_scale_jitter, kScaleJitterArgs},
    {"brightness", "multiplies all values by a factor", &make_brightness, kFactorArgs},
    {"contrast", "moves all values away from the grey of the mean colour, by a factor", &make_contrast, kFactorArgs},
    {"saturation", "moves each colour away from its grey, by a factor", &make_saturation, kFactorArgs},
    {"hue", "turns the colours around grey, in YIQ", &make_hue, kHueArgs},
    {"color_jitter", "changes brightness, contrast, saturation and hue by random factors, in random order",
     &make_color_jitter, kColorJitterArgs},
    {"grayscale", "replaces each colour by its grey", &make_grayscale, {}},
    {"random_grayscale", "replaces each colour by its grey with a given probability", &make_random_grayscale,
     kRandomGrayscaleArgs},
    {"torchvision_brightness", "multiplies all values by a factor, as torchvision does", &make_torchvision_brightness,
     kFactorArgs},
    {"torchvision_contrast", "moves all values away from the mean grey, as torchvision does",
     &make_torchvision_contrast, kFactorArgs},
    {"torchvision_saturation", "moves each colour away from its grey, as torchvision does",
     &make_torchvision_saturation, kFactorArgs},
    {"torchvision_hue", "turns the colours in HSV, as torchvision does", &make_torchvision_hue, kHueArgs},
    {"torchvision_color_jitter", "jitters colours by torchvision's operators, each of which rounds to 8 bits",
     &make_torchvision_color_jitter, kColorJitterArgs},
    {"torchvision_grayscale", "replaces each colour by its grey, as torchvision does", &make_torchvision_grayscale, {}},
    {"invert", "inverts all values", &make_invert, {}},
    {"random_invert", "inverts all values with a given probability", &make_random_invert, kChanceArgs},
    {"posterize", "keeps only the highest bits of each value", &make_posterize, kPosterizeArgs},
    {"random_posterize", "keeps only the highest bits of each value with a given probability", &make_random_posterize,
     kRandomPosterizeArgs},
    {"solarize", "inverts all values from a threshold on", &make_solarize, kSolarizeArgs},
    {"random_solarize", "inverts all values from a threshold on with a given probability", &make_random_solarize,
     kRandomSolarizeArgs},
    {"equalize", "spreads the values of each channel so that all occur equally often", &make_equalize, {}},
    {"random_equalize", "equalizes the histogram of each channel with a given probability", &make_random_equalize,
     kChanceArgs},
    {"autocontrast", "stretches each channel to the whole range of values", &make_autocontrast, {}},
    {"random_autocontrast", "stretches each channel to the whole range with a given probability",
     &make_random_autocontrast, kChanceArgs},
    {"gamma", "raises all values, as fractions of 255, to a power", &make_gamma, kGammaArgs},
    {"channel_permutation", "puts the channels into a random order", &make_channel_permutation, {}},
    {"channel_dropout", "fills random channels with one value, with a given probability", &make_channel_dropout,
     kChannelDropoutArgs},
    {"channel_affine", "multiplies each channel by a factor and adds a bias", &make_channel_affine, kChannelAffineArgs},
    {"lighting", "adds a random colour along the principal components of ImageNet's colours", &make_lighting,
     kLightingArgs},
    {"gaussian_blur", "blurs by a Gaussian kernel", &make_gaussian_blur, kGaussianBlurArgs},
    {"sharpness", "sharpens or smooths", &make_sharpness, kSharpnessArgs},
    {"random_sharpness", "sharpens or smooths with a given probability", &make_random_sharpness, kRandomSharpnessArgs},
    {"gaussian_noise", "adds a normal deviate to every value", &make_gaussian_noise, kGaussianNoiseArgs},
    {"shot_noise", "replaces every value by a count of photons with that mean", &make_shot_noise, kShotNoiseArgs},
    {"salt_and_pepper", "makes some pixels white or black", &make_salt_and_pepper, kSaltAndPepperArgs},
    {"jpeg_degrade", "degrades the picture as coding it as a JPEG does", &make_jpeg_degrade, kJpegDegradeArgs},
    {"rotate", "rotates the picture around a point", &make_rotate, kRotateArgs},
    {"random_rotation", "rotates the picture by a random angle", &make_random_rotation, kRandomRotationArgs},
    {"affine", "rotates, shifts, scales and shears the picture", &make_affine, kAffineArgs},
    {"random_affine", "rotates, shifts, scales and shears the picture at random", &make_random_affine,
     kRandomAffineArgs},
    {"shear_x", "shears the picture along x", &make_shear_x, kShearArgs},
    {"shear_y", "shears the picture along y", &make_shear_y, kShearArgs},
    {"translate_x", "shifts the picture along x", &make_translate_x, kTranslateArgs},
    {"translate_y", "shifts the picture along y", &make_translate_y, kTranslateArgs},
    {"perspective", "moves four points of the picture to others", &make_perspective, kPerspectiveArgs},
    {"random_perspective", "moves the corners of the picture inwards at random", &make_random_perspective,
     kRandomPerspectiveArgs},
    {"elastic", "deforms the picture by a smooth random field", &make_elastic, kElasticArgs},
    {"rand_augment", "applies operators drawn from fourteen, all of one magnitude", &make_rand_augment,
     kRandAugmentArgs},
    {"trivial_augment_wide", "applies one of fourteen operators, with a magnitude drawn from a wide range",
     &make_trivial_augment_wide, kTrivialAugmentArgs},
    {"auto_augment", "applies one of the 25 pairs of operators that were found for a data set", &make_auto_augment,
     kAutoAugmentArgs},
    {"aug_mix", "blends the picture with what several chains of operators make of it", &make_aug_mix, kAugMixArgs},
    {"timm_augment", "applies a policy as timm names and draws it", &make_timm_augment, kTimmAugmentArgs},
    {"normalize", "(pixel / scale - mean) / std, in float32", &apply_normalize, kNormalizeArgs},
    {"channel_order", "sets the order of channels: RGB or BGR", &apply_channel_order, kChannelOrderArgs},
    {"random_erasing", "erases boxes of random area and shape with a given probability", &make_random_erasing,
     kRandomErasingArgs},
    {"cutout", "erases boxes of a given size at random places", &make_cutout, kCutoutArgs},
    {"grid_mask", "erases squares in a random grid", &make_grid_mask, kGridMaskArgs},
    {"cast", "sets the tensor's element type", &apply_cast, kCastArgs},
    {"layout", "sets the tensor's layout", &apply_layout, kLayoutArgs},
    {"json_number", "takes a number from a JSON field: a label, a target", &apply_json_number, kJsonNumberArgs},
    {"one_hot", "turns a class number into a probability for each class, in float32", &apply_one_hot, kOneHotArgs},
    {"sequence", "applies several operators as one", &combine_sequence, kSequenceArgs},
    {"random_apply", "applies several operators with a given probability, or none of them", &combine_random_apply,
     kRandomApplyArgs},
    {"random_choice", "applies one of several operators", &combine_random_choice, kRandomChoiceArgs},
    {"random_order", "applies several operators in random order", &combine_random_order, kRandomOrderArgs},
    {"five_crop", "makes five views of one: its corners, from top_left to bottom_right, and its centre",
     &make_five_crop, kFiveCropArgs},
    {"ten_crop", "makes ten views of one: those of five_crop, and the same of its mirror image", &make_ten_crop,
     kTenCropArgs},
    {"mixup", "blends each sample with its partner", &make_mixup, kMixupArgs},
    {"cutmix", "pastes a random box of its partner into each sample", &make_cutmix, kMixupArgs},
    {"mixup_or_cutmix", "does either mixup or cutmix", &make_mixup_or_cutmix, kMixupOrCutmixArgs},
    {"mosaic", "puts parts of four samples together around a random corner", &make_mosaic, kMosaicArgs},
};

}  // namespace

std::span<const OperatorSpec> operator_table() { return kOperators; }

}  // namespace stoker
