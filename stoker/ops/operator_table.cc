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
  return {.name = "views", .type = ArgType::kText, .doc = "the images to mix, by name: 'image, depth'; by default all"};
}
constexpr ArgSpec kMixupArgs[] = {alpha_arg("alpha", kShapeDoc, 1), chance_arg("p", "probability", 1), pair_mode_arg(),
                                  mixed_labels_arg(), mixed_views_arg()};
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
    chance_arg("p", "probability", 1),
    text_arg("mode", "what shares one draw: the global batch, the four partners, or nothing", "batch|group|elem",
             "group"),
    mixed_views_arg()};

constexpr OperatorSpec kOperators[] = {
    {"decode", "decodes an image to 8-bit RGB pixels", &apply_decode, kDecodeArgs},
    {"resize", "resizes to a given size", &make_resize, kResizeArgs},
    {"crop", "crops a fixed window", &make_crop, kCropArgs},
    {"center_crop", "crops the centre; pads smaller images", &make_center_crop, kCenterCropArgs},
    {"random_crop", "crops a window at a random place", &make_random_crop, kRandomCropArgs},
    {"random_resized_crop", "crops a random part of random area and shape, and resizes it", &make_random_resized_crop,
     kRandomResizedCropArgs},
    {"flip", "mirrors", &make_flip, kFlipArgs},
    {"random_flip", "mirrors with a given probability", &make_random_flip, kRandomFlipArgs},
    {"pad", "adds a border of one colour", &make_pad, kPadArgs},
    {"brightness", "multiplies all values by a factor", &make_brightness, kBrightnessArgs},
    {"invert", "inverts the picture: the negative", &make_invert, {}},
    {"normalize", "(pixel / scale - mean) / std, in float32", &apply_normalize, kNormalizeArgs},
    {"channel_order", "sets the order of channels: RGB or BGR", &apply_channel_order, kChannelOrderArgs},
    {"cast", "sets the tensor's element type", &apply_cast, kCastArgs},
    {"layout", "sets the tensor's layout", &apply_layout, kLayoutArgs},
    {"json_number", "takes a number from a JSON field: a label, a target", &apply_json_number, kJsonNumberArgs},
    {"one_hot", "turns a class number into a probability for each class, in float32", &apply_one_hot, kOneHotArgs},
    {"mixup", "blends each sample with its partner", &make_mixup, kMixupArgs},
    {"cutmix", "pastes a random box of its partner into each sample", &make_cutmix, kMixupArgs},
    {"mixup_or_cutmix", "does either mixup or cutmix", &make_mixup_or_cutmix, kMixupOrCutmixArgs},
    {"mosaic", "puts parts of four samples together around a random corner", &make_mosaic, kMosaicArgs},
};

}  // namespace

std::span<const OperatorSpec> operator_table() { return kOperators; }

}  // namespace stoker
