#include "stoker/ops/operator_table.h"

#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/operator_arguments.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr ArgSpec kDecodeArgs[] = {
    text_arg("mode",
             "planar: resamples each plane of a JPEG directly, the fastest; faithful: gives the pixels of Pillow 9.4 "
             "to 12.1 with libjpeg, faithful:12.2 and faithful:13 those of later versions",
             "planar|faithful|faithful:12.2|faithful:13", "planar"),
    text_arg("orientation", "apply: turns the image upright by its Exif data", "ignore|apply", "ignore"),
    {.name = "scale",
     .type = ArgType::kText,
     .doc = "auto: decodes a JPEG at 1/2, 1/4 or 1/8 of its size if the output is that much smaller; planar mode only",
     .text = "full",
     .choices = "full|auto",
     .later = true},
};
constexpr ArgSpec kResizeArgs[] = {size_arg("the short side's length, or [height, width]"), filter_arg()};
constexpr ArgSpec kCropArgs[] = {
    integer_arg("x", "x of the window's left column", 0), integer_arg("y", "y of the window's top row", 0),
    integer_arg("width", "the window's width", 1), integer_arg("height", "the window's height", 1)};
constexpr ArgSpec kCenterCropArgs[] = {size_arg("a square's side, or [height, width]"), fill_arg()};
constexpr ArgSpec kCornerCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    text_arg("corner", "where the window lies", "top_left|top_right|bottom_left|bottom_right|center")};
constexpr ArgSpec kFiveCropArgs[] = {size_arg("a square's side, or [height, width]")};
constexpr ArgSpec kTenCropArgs[] = {size_arg("a square's side, or [height, width]"), axis_arg()};
constexpr ArgSpec kRandomCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    {.name = "padding",
     .type = ArgType::kInteger,
     .doc = "width of a border that is added to the image before cropping",
     .min = 0,
     .max = kSideMax},
    fill_arg(),
    {.name = "pad_if_needed",
     .type = ArgType::kFlag,
     .doc = "a smaller image gets a border, and lies whole at a random place in it; false: it is a bad sample",
     .later = true}};
constexpr ArgSpec kRandomResizedCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    {.name = "scale",
     .type = ArgType::kNumbers,
     .doc = "the smallest and the largest crop, as fractions of the image's area",
     .numbers = {0.08, 1},
     .count = 2,
     .min = 1e-6,
     .max = 1,
     .counts = kCountTwo},
    {.name = "ratio",
     .type = ArgType::kNumbers,
     .doc = "the smallest and the largest width / height of a crop",
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
     .doc = "how many times as wide and high as the image the background is, at least and at most",
     .numbers = {1, 4},
     .count = 2,
     .min = 1,
     .max = 1000,
     .counts = kCountTwo},
    {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {0.5}, .min = 0, .max = 1},
    filter_arg(),
    fill_arg()};
constexpr ArgSpec kScaleJitterArgs[] = {
    size_arg("a square's side, or [height, width]"),
    {.name = "scale",
     .type = ArgType::kNumbers,
     .doc = "the smallest and the largest scale; at 1 the image just fits",
     .numbers = {0.1, 2},
     .count = 2,
     .min = 1e-3,
     .max = 10,
     .counts = kCountTwo},
    filter_arg(),
    fill_arg(),
    text_arg("fit", "what scale 1 is: inside: the whole image is in the output; cover: the image covers the output",
             "inside|cover", "inside")};
constexpr ArgSpec kLetterboxArgs[] = {size_arg("a square's side, or [height, width]"),
                                      text_arg("place", "where the image lies", "center|top_left", "center"),
                                      {.name = "enlarge",
                                       .type = ArgType::kFlag,
                                       .doc = "enlarges images that are smaller than the output",
                                       .numbers = {1}},
                                      filter_arg(),
                                      fill_arg()};
constexpr ArgSpec share_arg(std::string_view name, std::string_view doc, double by_default, double max) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 1e-3, .max = max};
}
constexpr ArgSpec kIouCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    share_arg("min_scale", "the smallest width and height of a crop, as fractions of the image's", 0.3, 1),
    share_arg("max_scale", "the largest width and height of a crop, as fractions of the image's", 1, 1),
    share_arg("min_aspect_ratio", "the smallest width / height of a crop", 0.5, 1e3),
    share_arg("max_aspect_ratio", "the largest width / height of a crop", 2, 1e3),
    {.name = "sampler_options",
     .type = ArgType::kNumbers,
     .doc = "choices for the least overlap (intersection over union) with an object; one is drawn for each image; 1 or "
            "more: no crop",
     .numbers = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1},
     .count = 7,
     .min = 0,
     .max = 10,
     .counts = ~kCountNone},
    {.name = "trials",
     .type = ArgType::kInteger,
     .doc = "crops that are tried before another choice is drawn from sampler_options",
     .numbers = {40},
     .min = 1,
     .max = 1000},
    {.name = "side_range",
     .type = ArgType::kNumbers,
     .doc = "before the crop, the image is put on a background this many times as wide and high, at least and at most; "
            "1: no background",
     .numbers = {1, 1},
     .count = 2,
     .min = 1,
     .max = 1000,
     .counts = kCountTwo},
    chance_arg("zoom_p", "probability of the background", 0.5),
    filter_arg(),
    fill_arg()};
constexpr ArgSpec kNormalizeArgs[] = {
    text_arg("preset", "mean, std and scale of a data set", "none|imagenet|cifar10|unit", "none"),
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
              "what is written, in units of the tensor (after normalize, 0 is the mean colour): one number, or one per "
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
     .doc = "the smallest and the largest area of all boxes together, as fractions of the image's",
     .numbers = {0.02, 0.33},
     .count = 2,
     .min = 0,
     .max = 1,
     .counts = kCountTwo},
    {.name = "ratio",
     .type = ArgType::kNumbers,
     .doc = "the smallest and the largest height / width of a box",
     .numbers = {0.3, 3.3},
     .count = 2,
     .min = 1e-3,
     .max = 1e3,
     .counts = kCountTwo},
    value_arg(),
    text_arg("mode",
             "const: writes value; rand: a random colour for each box; pixel: a random number for each element; both "
             "from a normal distribution",
             "const|rand|pixel", "const"),
    count_arg("min_count", "the smallest number of boxes"),
    count_arg("max_count", "the largest number of boxes")};
constexpr ArgSpec kCutoutArgs[] = {size_arg("a square's side, or [height, width]"),
                                   count_arg("count", "how many boxes"), value_arg()};
constexpr ArgSpec kGridMaskArgs[] = {{.name = "d",
                                      .type = ArgType::kIntegers,
                                      .doc = "distance between squares in pixels; [low, high] draws one for each image",
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
                                      .doc = "the grid's angle is drawn from 0 to this many degrees",
                                      .min = 0,
                                      .max = 360},
                                     p_arg(1),
                                     value_arg()};
constexpr ArgSpec kCastArgs[] = {
    text_arg("dtype", "the element type; values are rounded to the nearest, ties to even, and clamped for u8",
             "u8|f16|bf16|f32")};
constexpr ArgSpec kLayoutArgs[] = {text_arg("layout", "order of the tensor's axes", "nchw|nhwc")};

constexpr ArgSpec kJsonNumberArgs[] = {
    text_arg("key", "key of the outermost object, or a JSON pointer: /annotations/0/category", ""),
    text_arg("dtype", "element type of the output", "i64|f32", "i64")};

constexpr ArgSpec kOneHotArgs[] = {
    {.name = "classes",
     .type = ArgType::kInteger,
     .doc = "number of classes; labels are 0 to classes - 1",
     .required = true,
     .min = 1,
     .max = 1e6},
    {.name = "smoothing",
     .type = ArgType::kNumber,
     .doc = "label smoothing: the part of the probability that is spread evenly over all classes",
     .min = 0,
     .max = 1}};

constexpr ArgSpec alpha_arg(std::string_view name, std::string_view doc, double by_default) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 1e-3, .max = 1e3};
}
constexpr std::string_view kShapeDoc =
    "both parameters of the beta distribution that draws how much of the sample itself is left";
constexpr ArgSpec pair_mode_arg() {
  return text_arg("mode", "batch: draws once for the global batch; pair: once for two partners; elem: for each sample",
                  "batch|pair|elem", "batch");
}
constexpr ArgSpec mixed_labels_arg() {
  return text_arg("labels",
                  "soft: mixes one_hot labels; pair: adds the partner's label as label_b, and as lambda the weight of "
                  "the sample's own label",
                  "soft|pair", "soft");
}
constexpr ArgSpec mixed_views_arg() {
  return text_arg("views", "the images to mix: all, or names, such as 'image, depth'", "", "all");
}
constexpr ArgSpec kMixupArgs[] = {alpha_arg("alpha", kShapeDoc, 1), p_arg(1), pair_mode_arg(), mixed_labels_arg(),
                                  mixed_views_arg()};
constexpr ArgSpec kMixupOrCutmixArgs[] = {
    alpha_arg("mixup_alpha", "alpha of mixup", 0.8),
    alpha_arg("cutmix_alpha", "alpha of cutmix", 1),
    chance_arg("switch_prob", "probability of cutmix where one of both is done", 0.5),
    chance_arg("prob", "probability that one of both is done", 1),
    pair_mode_arg(),
    mixed_labels_arg(),
    mixed_views_arg()};
constexpr ArgSpec kMosaicArgs[] = {
    alpha_arg("alpha", "both parameters of the beta distribution that draws x and y of the corner", 1), p_arg(1),
    text_arg("mode", "batch: draws once for the global batch; group: once for four partners; elem: for each sample",
             "batch|group|elem", "group"),
    mixed_views_arg()};
constexpr ArgSpec kSequenceArgs[] = {operators_arg("applied one after another")};
constexpr ArgSpec kRandomApplyArgs[] = {
    operators_arg("applied one after another, or not at all"),
    {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {0.5}, .min = 0, .max = 1}};
constexpr ArgSpec kRandomChoiceArgs[] = {operators_arg("one of them is applied"),
                                         {.name = "p",
                                          .type = ArgType::kNumbers,
                                          .doc = "probability of each operator, in any unit; by default all are equal",
                                          .count = 0,
                                          .min = 0,
                                          .max = 1e6,
                                          .counts = ~0u},
                                         text_arg("mode",
                                                  "elem: draws for each sample; batch: draws once for all samples of a "
                                                  "global batch, whose size may then differ from the next",
                                                  "elem|batch", "elem")};
constexpr ArgSpec kRandomOrderArgs[] = {operators_arg("applied in random order")};

constexpr OperatorSpec kBeforePictures[] = {
    {"decode", "decodes an image to 8-bit RGB pixels", &apply_decode, kDecodeArgs, "mode = 'faithful'"},
    {"resize", "resizes to a given size", &make_resize, kResizeArgs, "size = [40, 160] | size = [160, 40]"},
    {"crop", "crops a fixed window", &make_crop, kCropArgs,
     "x = 0, y = 0, width = 80, height = 80 | x = 80, y = 40, width = 80, height = 80"},
    {"center_crop", "crops the centre; pads smaller images", &make_center_crop, kCenterCropArgs,
     "size = 120 | size = 80 | size = 40"},
    {"corner_crop", "crops a corner or the centre", &make_corner_crop, kCornerCropArgs,
     "size = 100, corner = 'top_left' | size = 100, corner = 'bottom_right'"},
    {"random_crop", "crops a window at a random place", &make_random_crop, kRandomCropArgs,
     "size = 140 | size = 100 | size = 60 | size = 160, padding = 40"},
    {"random_resized_crop", "crops a random part of random area and shape, and resizes it", &make_random_resized_crop,
     kRandomResizedCropArgs,
     "size = 160, scale = [0.5, 1] | size = 160, scale = [0.2, 0.5] | size = 160, scale = [0.05, 0.2]"},
    {"flip", "mirrors", &make_flip, kFlipArgs, "axis = 'horizontal' | axis = 'vertical'"},
    {"random_flip", "mirrors with a given probability", &make_random_flip, kRandomFlipArgs,
     "p = 1 | p = 1, axis = 'vertical'"},
    {"pad", "adds a border of one colour", &make_pad, kPadArgs,
     "padding = 10 | padding = 40, fill = 128 | padding = [0, 40], fill = [200, 0, 0]"},
    {"zoom_out", "shrinks the image to a random size at a random place, on a background of one colour", &make_zoom_out,
     kZoomOutArgs, "size = 160, side_range = [1.5, 1.5], p = 1 | size = 160, side_range = [3, 3], p = 1"},
    {"scale_jitter", "resizes at random, and crops or pads to a given size", &make_scale_jitter, kScaleJitterArgs,
     "size = 160, scale = [0.3, 0.6] | size = 160, scale = [1, 1.5] | size = 160, scale = [2, 3]"},
    {"letterbox", "resizes the whole image to fit into the output, on a background of one colour", &make_letterbox,
     kLetterboxArgs, "size = [60, 160] | size = [160, 60], fill = 114 | size = [160, 60], place = 'top_left'"},
    {"iou_crop", "crops a random part that overlaps an object enough, and resizes it (SSD's crop)", &make_iou_crop,
     kIouCropArgs,
     "size = 120, sampler_options = [0.1] | size = 120, sampler_options = [0.3] | size = 120, sampler_options = [0.6] "
     "| "
     "size = 120, side_range = [1.5, 2], zoom_p = 1"},
};

constexpr OperatorSpec kAfterPictures[] = {
    {"normalize", "(pixel / scale - mean) / std, in float32", &apply_normalize, kNormalizeArgs, "preset = 'imagenet'"},
    {"channel_order", "exchanges red and blue (bgr), or leaves them (rgb)", &apply_channel_order, kChannelOrderArgs,
     "order = 'bgr'"},
    {"random_erasing", "erases boxes of random area and shape with a given probability", &make_random_erasing,
     kRandomErasingArgs,
     "p = 1, scale = [0.02, 0.05] | p = 1, scale = [0.1, 0.2] | p = 1, scale = [0.3, 0.33] | p = 1, mode = 'pixel'"},
    {"cutout", "erases boxes of a given size at random places", &make_cutout, kCutoutArgs,
     "size = 20 | size = 50 | size = 30, count = 4"},
    {"grid_mask", "erases squares in a random grid", &make_grid_mask, kGridMaskArgs,
     "d = [20, 20] | d = [40, 40] | d = [40, 40], rotate = 45 | d = [80, 80], ratio = 0.3"},
    {"cast", "sets the tensor's element type", &apply_cast, kCastArgs, "dtype = 'f16'"},
    {"layout", "sets the tensor's layout", &apply_layout, kLayoutArgs, "layout = 'nhwc'"},
};

constexpr OperatorSpec kAfterArrays[] = {
    {"json_number", "decodes a number in a JSON field: a label, a target", &apply_json_number, kJsonNumberArgs,
     "key = '/annotations/0/category'"},
    {"digest", "gives the length and the XXH3-64 hash of a field's bytes: to measure reading alone", &apply_digest, {}},
    {"one_hot", "turns a class number into a probability for each class, in float32", &apply_one_hot, kOneHotArgs,
     "classes = 1000, smoothing = 0.1"},
    {"sequence", "applies several operators as one", &combine_sequence, kSequenceArgs,
     "operators = [{ op = 'posterize', bits = 3 }, { op = 'rotate', degrees = 20 }]"},
    {"random_apply", "applies several operators with a given probability, or none of them", &combine_random_apply,
     kRandomApplyArgs, "operators = [{ op = 'invert' }, { op = 'rotate', degrees = 20 }], p = 1"},
    {"random_choice", "applies one of several operators", &combine_random_choice, kRandomChoiceArgs,
     "operators = [{ op = 'invert' }, { op = 'rotate', degrees = 20 }, { op = 'grayscale' }]"},
    {"random_order", "applies several operators in random order", &combine_random_order, kRandomOrderArgs,
     "operators = [{ op = 'solarize', threshold = 128 }, { op = 'gaussian_blur', kernel_size = 13, sigma = 3 }]"},
    {"five_crop", "makes five views of one: its corners, from top_left to bottom_right, and its centre",
     &make_five_crop, kFiveCropArgs, "size = 100"},
    {"ten_crop", "makes ten views of one: those of five_crop, and those of its mirror image", &make_ten_crop,
     kTenCropArgs, "size = 100"},
    {"mixup", "blends each sample with its partner", &make_mixup, kMixupArgs, "alpha = 1 | alpha = 8, mode = 'elem'"},
    {"cutmix", "pastes a random box of its partner into each sample", &make_cutmix, kMixupArgs,
     "alpha = 1 | alpha = 8, mode = 'elem'"},
    {"mixup_or_cutmix", "does mixup or cutmix, never both", &make_mixup_or_cutmix, kMixupOrCutmixArgs,
     "mode = 'batch' | mode = 'elem'"},
    {"mosaic", "puts parts of four samples together around a random corner", &make_mosaic, kMosaicArgs,
     "mode = 'group' | alpha = 8, mode = 'elem'"},
};

}  // namespace

std::span<const OperatorSpec> operator_table() {
  static const std::vector<OperatorSpec> table = [] {
    std::vector<OperatorSpec> all;
    const std::span<const OperatorSpec> parts[] = {kBeforePictures,   picture_operators(), kAfterPictures,
                                                   field_operators(), array_operators(),   kAfterArrays};
    for (const std::span<const OperatorSpec> part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace stoker
