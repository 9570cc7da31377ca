#include "stoker/ops/operator_table.h"

#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr unsigned kCountOne = 1u << 1, kCountTwo = 1u << 2, kCountThree = 1u << 3, kCountFour = 1u << 4;
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
constexpr ArgSpec kBrightnessArgs[] = {
    drawn_arg("factor", "1 changes nothing; [low, high] draws a factor for each picture", 0, kFactorMax)};
constexpr ArgSpec p_arg(double p) {
  return {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {p}, .min = 0, .max = 1};
}
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
constexpr ArgSpec kCastArgs[] = {text_arg("dtype", "nearest value, ties to even; u8 clamps", "u8|f16|bf16|f32")};
constexpr ArgSpec kLayoutArgs[] = {text_arg("layout", "order of the tensor's axes", "nchw|nhwc")};

constexpr ArgSpec kJsonNumberArgs[] = {
    text_arg("key", "key of the outermost object, or a JSON pointer: /annotations/0/category", ""),
    text_arg("dtype", "of the output", "i64|f32", "i64")};

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
    {"brightness", "multiplies all values by a factor", &make_brightness, kBrightnessArgs},
    {"invert", "inverts the picture: the negative", &make_invert, {}},
    {"gaussian_blur", "blurs by a Gaussian kernel", &make_gaussian_blur, kGaussianBlurArgs},
    {"sharpness", "sharpens or smooths", &make_sharpness, kSharpnessArgs},
    {"random_sharpness", "sharpens or smooths with a given probability", &make_random_sharpness, kRandomSharpnessArgs},
    {"gaussian_noise", "adds a normal deviate to every value", &make_gaussian_noise, kGaussianNoiseArgs},
    {"shot_noise", "replaces every value by a count of photons with that mean", &make_shot_noise, kShotNoiseArgs},
    {"salt_and_pepper", "makes some pixels white or black", &make_salt_and_pepper, kSaltAndPepperArgs},
    {"jpeg_degrade", "degrades the picture as coding it as a JPEG does", &make_jpeg_degrade, kJpegDegradeArgs},
    {"normalize", "(pixel / scale - mean) / std, in float32", &apply_normalize, kNormalizeArgs},
    {"channel_order", "sets the order of channels: RGB or BGR", &apply_channel_order, kChannelOrderArgs},
    {"cast", "sets the tensor's element type", &apply_cast, kCastArgs},
    {"layout", "sets the tensor's layout", &apply_layout, kLayoutArgs},
    {"json_number", "takes a number from a JSON field: a label, a target", &apply_json_number, kJsonNumberArgs},
    {"sequence", "applies several operators as one", &combine_sequence, kSequenceArgs},
    {"random_apply", "applies several operators with a given probability, or none of them", &combine_random_apply,
     kRandomApplyArgs},
    {"random_choice", "applies one of several operators", &combine_random_choice, kRandomChoiceArgs},
    {"random_order", "applies several operators in random order", &combine_random_order, kRandomOrderArgs},
    {"five_crop", "makes five views of one: its corners, from top_left to bottom_right, and its centre",
     &make_five_crop, kFiveCropArgs},
    {"ten_crop", "makes ten views of one: those of five_crop, and the same of its mirror image", &make_ten_crop,
     kTenCropArgs},
};

}  // namespace

std::span<const OperatorSpec> operator_table() { return kOperators; }

}  // namespace stoker
