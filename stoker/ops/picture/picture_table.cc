// The part of the operator table that has the operators on pictures.
#include "stoker/ops/operator_arguments.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

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

constexpr OperatorSpec kPictureOperators[] = {
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
};

}  // namespace

std::span<const OperatorSpec> picture_operators() { return kPictureOperators; }

}  // namespace stoker
