#include "stoker/ops/operator_table.h"

#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/operator_arguments.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/token_arguments.h"

namespace stoker {
namespace {

constexpr ArgSpec kDecodeArgs[] = {
    text_arg(
        "mode",
        "planar: resamples each plane of a JPEG directly; faithful: pixels of libjpeg and of Pillow 9.4 to 12.1, or of "
        "the later version in the name",
        "planar|faithful|faithful:12.2|faithful:13", "planar"),
    text_arg("orientation", "apply orients the image by its Exif data", "ignore|apply", "ignore"),
    {.name = "scale",
     .type = ArgType::kText,
     .doc = "auto: a JPEG that is resized to half its size or less is decoded at 1/2, 1/4 or 1/8 of its size, as the "
            "target allows; planar mode only",
     .text = "full",
     .choices = "full|auto",
     .later = true},
};
constexpr ArgSpec kDecodeMaskArgs[] = {
    text_arg(
        "codes",
        "index: each pixel is a number, or the index of a colour; rgb: red + 256 green + 65,536 blue; objects: each "
        "pixel has the category of its object in COCO's JSON, 0 without any",
        "index|rgb|objects", "index"),
    text_arg("classes",
             "stored: the class is the pixel's number; from_one: one less, and 0 is none; cityscapes: the 19 that are "
             "evaluated",
             "stored|from_one|cityscapes", "stored"),
    {.name = "fill",
     .type = ArgType::kInteger,
     .doc = "the class of padding, and of pixels that have none",
     .numbers = {255},
     .min = -1e6,
     .max = 1e6},
    text_arg("dtype", "what the output holds", "u8|i64", "u8"),
};
constexpr ArgSpec kDecodeBoxesArgs[] = {
    text_arg("source",
             "coco: JSON objects with bbox and category_id; voc: Pascal VOC's XML; yolo: lines of class, middle, size",
             "coco|voc|yolo"),
    text_arg("form", "what the four numbers of the output are", "xyxy|xywh|cxcywh", "xyxy"),
    {.name = "fractions",
     .type = ArgType::kFlag,
     .doc = "of the output's width and height, in place of pixels",
     .numbers = {0}},
    {.name = "min_size",
     .type = ArgType::kNumber,
     .doc = "pixels of the output: boxes with a shorter side are left out",
     .numbers = {1},
     .min = 0,
     .max = kSideMax},
    {.name = "min_visible",
     .type = ArgType::kNumber,
     .doc = "the share of a box's area that has to be seen",
     .numbers = {0},
     .min = 0,
     .max = 1},
    text_arg("crowds", "what becomes of groups, and of objects that are marked difficult", "drop|keep", "drop"),
    {.name = "most",
     .type = ArgType::kInteger,
     .doc = "boxes of a sample: one that has more is a bad one",
     .numbers = {256},
     .min = 1,
     .max = 65'536},
    text_arg("names", "of the classes in the XML, with commas: the first one is class 0; voc: Pascal's 20", "", "voc"),
    {.name = "middle_seen",
     .type = ArgType::kFlag,
     .doc = "boxes whose middle is cut off are left out, as for SSD",
     .numbers = {0}},
};
constexpr ArgSpec kDecodeKeypointsArgs[] = {
    {.name = "points",
     .type = ArgType::kInteger,
     .doc = "how many an object has",
     .numbers = {17},
     .min = 1,
     .max = 1024},
    text_arg("flip_pairs",
             "the points that change places when the picture is mirrored, as in '1-2,3-4', from 0; coco: those of its "
             "17; none: no points do",
             "", "coco"),
    {.name = "fractions",
     .type = ArgType::kFlag,
     .doc = "of the output's width and height, in place of pixels",
     .numbers = {0}}};
constexpr ArgSpec kDecodeInstancesArgs[] = {text_arg(
    "source",
    "shapes: the outlines and runs in COCO's JSON; ids: a picture whose pixels hold the objects' ids; rgb_ids: "
    "the same, as red + 256 green + 65,536 blue",
    "shapes|ids|rgb_ids", "shapes")};
constexpr ArgSpec kMostBytesArg = {.name = "most",
                                   .type = ArgType::kInteger,
                                   .doc = "bytes of a sample",
                                   .numbers = {4096},
                                   .min = 1,
                                   .max = 16'777'216};
constexpr ArgSpec longer_arg() {
  return text_arg("longer", "what becomes of more: refuse: the sample is a bad one; cut: it is cut off", "refuse|cut",
                  "refuse");
}
constexpr ArgSpec kPadToArgs[] = {{.name = "count",
                                   .type = ArgType::kInteger,
                                   .doc = "rows of each sample",
                                   .required = true,
                                   .min = 1,
                                   .max = 16'777'216},
                                  {.name = "fill",
                                   .type = ArgType::kNumber,
                                   .doc = "what rows consist of that a sample does not have",
                                   .numbers = {0},
                                   .min = -1e9,
                                   .max = 1e9},
                                  longer_arg()};
constexpr ArgSpec kDecodeBytesArgs[] = {kMostBytesArg, longer_arg()};
constexpr ArgSpec kDecodeTextArgs[] = {
    {.name = "key",
     .type = ArgType::kText,
     .doc = "of a text in JSON, or a JSON pointer to one, as in /captions/0; empty: the field is the text"},
    kMostBytesArg,
    longer_arg()};
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
                                       fill_arg(),
                                       {.name = "pad_if_needed",
                                        .type = ArgType::kFlag,
                                        .doc = "whether a smaller image, shown whole at a random place, gets a border",
                                        .later = true}};
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
                                        fill_arg(),
                                        text_arg("fit",
                                                 "at scale 1, inside: the image is as large as fits into the output; "
                                                 "cover: as small as covers it",
                                                 "inside|cover", "inside")};
constexpr ArgSpec kLetterboxArgs[] = {
    size_arg("a square's side, or [height, width]"),
    text_arg("place", "where the image is put", "center|top_left", "center"),
    {.name = "enlarge", .type = ArgType::kFlag, .doc = "whether small images become larger", .numbers = {1}},
    filter_arg(),
    fill_arg()};
constexpr ArgSpec share_arg(std::string_view name, std::string_view doc, double by_default, double max) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 1e-3, .max = max};
}
constexpr ArgSpec kIouCropArgs[] = {
    size_arg("a square's side, or [height, width]"),
    share_arg("min_scale", "least width and height, in those of the image", 0.3, 1),
    share_arg("max_scale", "largest width and height", 1, 1),
    share_arg("min_aspect_ratio", "least width / height", 0.5, 1e3),
    share_arg("max_aspect_ratio", "largest width / height", 2, 1e3),
    {.name = "sampler_options",
     .type = ArgType::kNumbers,
     .doc = "of which one is drawn: the least intersection over union with an object; from 1 on, all is shown",
     .numbers = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1},
     .count = 7,
     .min = 0,
     .max = 10,
     .counts = ~kCountNone},
    {.name = "trials",
     .type = ArgType::kInteger,
     .doc = "parts that are tried before another one is drawn of sampler_options",
     .numbers = {40},
     .min = 1,
     .max = 1000},
    {.name = "side_range",
     .type = ArgType::kNumbers,
     .doc = "least and largest side of a canvas on which the image is put first, in sides of the image; 1: none",
     .numbers = {1, 1},
     .count = 2,
     .min = 1,
     .max = 1000,
     .counts = kCountTwo},
    chance_arg("zoom_p", "probability of the canvas", 0.5),
    filter_arg(),
    fill_arg()};
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
                                          .counts = ~0u},
                                         text_arg("mode",
                                                  "what shares one draw: nothing, or all samples of a global batch, "
                                                  "which may then have another size than the next",
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
    {"zoom_out", "resizes to a random part of the output, amid one colour", &make_zoom_out, kZoomOutArgs,
     "size = 160, side_range = [1.5, 1.5], p = 1 | size = 160, side_range = [3, 3], p = 1"},
    {"scale_jitter", "resizes at random, and crops or pads to a given size", &make_scale_jitter, kScaleJitterArgs,
     "size = 160, scale = [0.3, 0.6] | size = 160, scale = [1, 1.5] | size = 160, scale = [2, 3]"},
    {"letterbox", "resizes to what fits into the output, amid one colour", &make_letterbox, kLetterboxArgs,
     "size = [60, 160] | size = [160, 60], fill = 114 | size = [160, 60], place = 'top_left'"},
    {"iou_crop", "crops a random part that holds enough of one of the objects, and resizes it", &make_iou_crop,
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
    {"decode_mask", "decodes a picture of classes, which goes where its image goes, without mixing them",
     &apply_decode_mask, kDecodeMaskArgs, "classes = 'cityscapes'"},
    {"decode_boxes", "takes the boxes of objects, which go where their image goes", &apply_decode_boxes,
     kDecodeBoxesArgs, "source = 'coco', min_visible = 0.3"},
    {"box_labels", "takes the classes of another view's boxes, of those that it keeps", &apply_box_labels, {}},
    {"decode_keypoints", "takes the keypoints of another view's boxes: x, y and visibility of each",
     &apply_decode_keypoints, kDecodeKeypointsArgs, "points = 5, flip_pairs = '0-1,3-4'"},
    {"decode_instances", "takes the masks of another view's boxes, one for each object", &apply_decode_instances,
     kDecodeInstancesArgs, "source = 'ids'"},
    {"decode_text", "takes a text in UTF-8: a caption, a transcript", &apply_decode_text, kDecodeTextArgs,
     "key = '/captions/0'"},
    {"decode_bytes", "takes the bytes of a field as they are", &apply_decode_bytes, kDecodeBytesArgs, "most = 65536"},
    {"pad_to", "makes rows as many in each sample: a tensor in place of values and offsets", &apply_pad_to, kPadToArgs,
     "count = 100, longer = 'cut'"},
    {"decode_tokens", "takes a sequence of tokens", &apply_decode_tokens, kDecodeTokensArgs,
     "length = 1024, part = 'targets'"},
};

constexpr OperatorSpec kAfterArrays[] = {
    {"json_number", "takes a number from a JSON field: a label, a target", &apply_json_number, kJsonNumberArgs,
     "key = '/annotations/0/category'"},
    {"digest",
     "takes the length of a field in bytes, and their XXH3-64: for data that are only to be read",
     &apply_digest,
     {}},
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
    {"ten_crop", "makes ten views of one: those of five_crop, and the same of its mirror image", &make_ten_crop,
     kTenCropArgs, "size = 100"},
    {"mixup", "blends each sample with its partner", &make_mixup, kMixupArgs, "alpha = 1 | alpha = 8, mode = 'elem'"},
    {"cutmix", "pastes a random box of its partner into each sample", &make_cutmix, kMixupArgs,
     "alpha = 1 | alpha = 8, mode = 'elem'"},
    {"mixup_or_cutmix", "does either mixup or cutmix", &make_mixup_or_cutmix, kMixupOrCutmixArgs,
     "mode = 'batch' | mode = 'elem'"},
    {"mosaic", "puts parts of four samples together around a random corner", &make_mosaic, kMosaicArgs,
     "mode = 'group' | alpha = 8, mode = 'elem'"},
};

}  // namespace

std::span<const OperatorSpec> operator_table() {
  static const std::vector<OperatorSpec> table = [] {
    std::vector<OperatorSpec> all;
    const std::span<const OperatorSpec> parts[] = {kBeforePictures, picture_operators(), kAfterPictures,
                                                   array_operators(), kAfterArrays};
    for (const std::span<const OperatorSpec> part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace stoker
