// The part of the operator table that has the operators on pictures.
#include "stoker/ops/operator_arguments.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr double kFactorMax = 100;
constexpr ArgSpec kFactorArgs[] = {
    drawn_arg("factor", "1 changes nothing; [low, high] draws a factor for each picture", 0, kFactorMax)};
constexpr ArgSpec kHueArgs[] = {drawn_arg(
    "factor", "rotation of the hue, 1 is a full turn, from red towards green; [low, high] draws one for each picture",
    -0.5, 0.5)};
constexpr ArgSpec jitter_arg(std::string_view name, std::string_view doc, double min, double max) {
  return {.name = name, .type = ArgType::kNumbers, .doc = doc, .min = min, .max = max, .counts = kCountOne | kCountTwo};
}
constexpr std::string_view kJitterDoc = "v draws a factor from [max(0, 1 - v), 1 + v]; [low, high] from that range";
constexpr ArgSpec kColorJitterArgs[] = {
    jitter_arg("brightness", kJitterDoc, 0, kFactorMax), jitter_arg("contrast", kJitterDoc, 0, kFactorMax),
    jitter_arg("saturation", kJitterDoc, 0, kFactorMax),
    jitter_arg("hue", "v draws a rotation from [-v, v], 1 is a full turn; [low, high] from that range", -0.5, 0.5)};
constexpr ArgSpec kRandomGrayscaleArgs[] = {p_arg(0.1)};
constexpr ArgSpec kChanceArgs[] = {p_arg(0.5)};
constexpr ArgSpec bits_arg() {
  return {.name = "bits",
          .type = ArgType::kInteger,
          .doc = "how many bits of each value are kept",
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
constexpr ArgSpec kGaussianBlurArgs[] = {{.name = "kernel_size",
                                          .type = ArgType::kIntegers,
                                          .doc = "side of the kernel in pixels, odd: one number, or [width, height]",
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
    {.name = "mean", .type = ArgType::kNumber, .doc = "mean of the noise, as a fraction of white", .min = -1, .max = 1},
    {.name = "sigma",
     .type = ArgType::kNumbers,
     .doc = "standard deviation as a fraction of white; [low, high] draws one for each picture",
     .numbers = {0.1},
     .min = 0,
     .max = 10,
     .counts = kCountOne | kCountTwo}};
constexpr ArgSpec kShotNoiseArgs[] = {
    drawn_arg("photons", "photons of a white pixel, fewer give more noise; [low, high] draws a number for each picture",
              1, 1000)};
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
  return text_arg("filter", "interpolation between pixels", "nearest|bilinear|bicubic", by_default);
}
constexpr ArgSpec warp_fill_arg() {
  ArgSpec arg = fill_arg();
  arg.doc = "colour outside the picture: one number, or one per channel";
  return arg;
}
constexpr ArgSpec center_arg() {
  return {.name = "center",
          .type = ArgType::kNumbers,
          .doc = "the fixed point, [x, y] in pixels from the upper left corner; by default the middle",
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
     .doc = "shear angle in degrees along x, or [along x, along y]",
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
     .doc = "degrees along x are drawn from [low, high], or from [-d, d] for one number d; two more numbers are the "
            "range along y",
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
    points_arg("endpoints", "where four points of the picture go: x and y of each, in pixels", true),
    points_arg("startpoints", "the four points; by default the corners, clockwise from the upper left one", false),
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
constexpr ArgSpec kRandAugmentArgs[] = {count_arg("num_ops", "operators for each picture", 2, 0, 32),
                                        count_arg("magnitude", "magnitude of all operators, from 0", 9, 0, 999),
                                        count_arg("num_magnitude_bins", "how many magnitudes there are", 31, 2, 1000),
                                        warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec kTrivialAugmentArgs[] = {
    count_arg("num_magnitude_bins", "how many magnitudes there are; one is drawn", 31, 2, 1000),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec kAutoAugmentArgs[] = {
    text_arg("policy", "the data set for which the policy was found", "imagenet|cifar10|svhn", "imagenet"),
    warp_filter_arg("nearest"), warp_fill_arg()};
constexpr ArgSpec kAugMixArgs[] = {
    count_arg("severity", "the largest of ten magnitudes that may be drawn", 3, 1, 10),
    count_arg("mixture_width", "how many chains of operators are blended", 3, 1, 10),
    count_arg("chain_depth", "operators in a chain; below 1, as by default: 1 to 3, drawn for each chain", -1, -1, 10),
    {.name = "alpha",
     .type = ArgType::kNumber,
     .doc = "parameter of the beta and Dirichlet distributions that draw the weights",
     .numbers = {1},
     .min = 1e-3,
     .max = 1e3},
    {.name = "all_ops",
     .type = ArgType::kFlag,
     .doc = "also draws brightness, color, contrast and sharpness",
     .numbers = {1}},
    warp_filter_arg("bilinear"),
    warp_fill_arg()};
constexpr ArgSpec kTimmAugmentArgs[] = {
    text_arg("spec", "as timm names it: rand-m9-mstd0.5-inc1, augmix-m5-w4-d2, original-mstd0.5, v0, 3a", ""),
    warp_filter_arg("bilinear"),
    {.name = "fill",
     .type = ArgType::kIntegers,
     .doc = "colour outside the picture: one number, or one per channel; by default ImageNet's mean",
     .numbers = {124, 116, 104},
     .count = 3,
     .min = 0,
     .max = 255,
     .counts = kCountOne | kCountThree}};

constexpr OperatorSpec kPictureOperators[] = {
    {"brightness", "multiplies all values by a factor", &make_brightness, kFactorArgs,
     "factor = 0.3 | factor = 0.7 | factor = 1.5 | factor = 2.5"},
    {"contrast", "moves all values away from the image's mean grey, by a factor", &make_contrast, kFactorArgs,
     "factor = 0 | factor = 0.5 | factor = 1.5 | factor = 3"},
    {"saturation", "moves each colour away from its grey, by a factor", &make_saturation, kFactorArgs,
     "factor = 0 | factor = 0.5 | factor = 2 | factor = 4"},
    {"hue", "turns the colours around grey, in YIQ", &make_hue, kHueArgs,
     "factor = 0.05 | factor = 0.15 | factor = 0.3 | factor = 0.5"},
    {"color_jitter", "changes brightness, contrast, saturation and hue by random factors, in random order",
     &make_color_jitter, kColorJitterArgs,
     "brightness = 0.2, contrast = 0.2, saturation = 0.2, hue = 0.05 | brightness = 0.4, contrast = 0.4, saturation = "
     "0.4, hue = 0.1 | brightness = 0.8, contrast = 0.8, saturation = 0.8, hue = 0.2"},
    {"grayscale", "replaces each colour by its grey", &make_grayscale, {}},
    {"random_grayscale", "replaces each colour by its grey with a given probability", &make_random_grayscale,
     kRandomGrayscaleArgs, "p = 1"},
    {"torchvision_brightness", "multiplies all values by a factor, as torchvision does", &make_torchvision_brightness,
     kFactorArgs, "factor = 0.3 | factor = 0.7 | factor = 1.5 | factor = 2.5"},
    {"torchvision_contrast", "moves all values away from the mean grey, as torchvision does",
     &make_torchvision_contrast, kFactorArgs, "factor = 0 | factor = 0.5 | factor = 1.5 | factor = 3"},
    {"torchvision_saturation", "moves each colour away from its grey, as torchvision does",
     &make_torchvision_saturation, kFactorArgs, "factor = 0 | factor = 0.5 | factor = 2 | factor = 4"},
    {"torchvision_hue", "turns the colours in HSV, as torchvision does", &make_torchvision_hue, kHueArgs,
     "factor = 0.05 | factor = 0.15 | factor = 0.3 | factor = 0.5"},
    {"torchvision_color_jitter", "jitters colours by torchvision's operators, each of which rounds to 8 bits",
     &make_torchvision_color_jitter, kColorJitterArgs,
     "brightness = 0.2, contrast = 0.2, saturation = 0.2, hue = 0.05 | brightness = 0.4, contrast = 0.4, saturation = "
     "0.4, hue = 0.1 | brightness = 0.8, contrast = 0.8, saturation = 0.8, hue = 0.2"},
    {"torchvision_grayscale", "replaces each colour by its grey, as torchvision does", &make_torchvision_grayscale, {}},
    {"invert", "inverts all values", &make_invert, {}},
    {"random_invert", "inverts all values with a given probability", &make_random_invert, kChanceArgs, "p = 1"},
    {"posterize", "keeps only the highest bits of each value", &make_posterize, kPosterizeArgs,
     "bits = 5 | bits = 3 | bits = 2 | bits = 1"},
    {"random_posterize", "keeps only the highest bits of each value with a given probability", &make_random_posterize,
     kRandomPosterizeArgs, "bits = 4, p = 1 | bits = 2, p = 1"},
    {"solarize", "inverts all values from a threshold on", &make_solarize, kSolarizeArgs,
     "threshold = 200 | threshold = 128 | threshold = 64"},
    {"random_solarize", "inverts all values from a threshold on with a given probability", &make_random_solarize,
     kRandomSolarizeArgs, "threshold = 200, p = 1 | threshold = 128, p = 1"},
    {"equalize", "spreads the values of each channel so that all occur equally often", &make_equalize, {}},
    {"random_equalize", "equalizes the histogram of each channel with a given probability", &make_random_equalize,
     kChanceArgs, "p = 1"},
    {"autocontrast", "stretches each channel to the whole range of values", &make_autocontrast, {}},
    {"random_autocontrast", "stretches each channel to the whole range with a given probability",
     &make_random_autocontrast, kChanceArgs, "p = 1"},
    {"gamma", "raises all values, as fractions of 255, to a power", &make_gamma, kGammaArgs,
     "gamma = 0.4 | gamma = 0.8 | gamma = 1.5 | gamma = 3"},
    {"channel_permutation", "puts the channels into a random order", &make_channel_permutation, {}},
    {"channel_dropout", "fills random channels with one value, with a given probability", &make_channel_dropout,
     kChannelDropoutArgs, "p = 1 | channels = 2, p = 1 | channels = 1, fill = 128, p = 1"},
    {"channel_affine", "multiplies each channel by a factor and adds a bias", &make_channel_affine, kChannelAffineArgs,
     "scale = [0.7, 1, 1.3] | scale = 0.5, bias = [60, 0, 60] | scale = -1, bias = 255"},
    {"lighting", "adds a random colour along the principal components of ImageNet's colours", &make_lighting,
     kLightingArgs, "alphastd = 0.1 | alphastd = 0.5 | alphastd = 1"},
    {"gaussian_blur", "blurs by a Gaussian kernel", &make_gaussian_blur, kGaussianBlurArgs,
     "kernel_size = 5, sigma = 1 | kernel_size = 13, sigma = 2 | kernel_size = 31, sigma = 5"},
    {"sharpness", "sharpens or smooths", &make_sharpness, kSharpnessArgs,
     "factor = 0 | factor = 0.5 | factor = 3 | factor = 8"},
    {"random_sharpness", "sharpens or smooths with a given probability", &make_random_sharpness, kRandomSharpnessArgs,
     "factor = 0, p = 1 | factor = 8, p = 1"},
    {"gaussian_noise", "adds a normal deviate to every value", &make_gaussian_noise, kGaussianNoiseArgs,
     "sigma = 0.05 | sigma = 0.1 | sigma = 0.3"},
    {"shot_noise", "adds the noise of counted photons (Poisson) to every value", &make_shot_noise, kShotNoiseArgs,
     "photons = 200 | photons = 50 | photons = 10"},
    {"salt_and_pepper", "makes some pixels white or black", &make_salt_and_pepper, kSaltAndPepperArgs,
     "amount = 0.01 | amount = 0.05 | amount = 0.2"},
    {"jpeg_degrade", "degrades the picture as coding it as a JPEG does", &make_jpeg_degrade, kJpegDegradeArgs,
     "quality = 50 | quality = 20 | quality = 5"},
    {"rotate", "rotates the picture around a point", &make_rotate, kRotateArgs,
     "degrees = 10 | degrees = 30 | degrees = 90 | degrees = 45, filter = 'bilinear', fill = 128"},
    {"random_rotation", "rotates the picture by a random angle", &make_random_rotation, kRandomRotationArgs,
     "degrees = 10 | degrees = 30 | degrees = 90"},
    {"affine", "rotates, shifts, scales and shears the picture", &make_affine, kAffineArgs,
     "angle = 15 | scale = 0.6 | shear = [20, 0] | angle = 20, translate = [30, 0], scale = 1.2, shear = [10, 10]"},
    {"random_affine", "rotates, shifts, scales and shears the picture at random", &make_random_affine,
     kRandomAffineArgs,
     "degrees = 5, translate = [0.05, 0.05] | degrees = 15, translate = [0.1, 0.1], scale = [0.8, 1.2] | degrees = 30, "
     "translate = [0.2, 0.2], scale = [0.5, 1.5], shear = [-20, 20]"},
    {"shear_x", "shears the picture along x", &make_shear_x, kShearArgs, "factor = 0.1 | factor = 0.3 | factor = 0.6"},
    {"shear_y", "shears the picture along y", &make_shear_y, kShearArgs, "factor = 0.1 | factor = 0.3 | factor = 0.6"},
    {"translate_x", "shifts the picture along x", &make_translate_x, kTranslateArgs,
     "pixels = 10 | pixels = 40 | fraction = 0.5"},
    {"translate_y", "shifts the picture along y", &make_translate_y, kTranslateArgs,
     "pixels = 10 | pixels = 40 | fraction = 0.5"},
    {"perspective", "moves four points of the picture to others", &make_perspective, kPerspectiveArgs,
     "endpoints = [20, 10, 150, 0, 159, 159, 0, 140] | endpoints = [50, 30, 120, 10, 159, 159, 0, 120]"},
    {"random_perspective", "moves the corners of the picture inwards at random", &make_random_perspective,
     kRandomPerspectiveArgs,
     "distortion_scale = 0.2, p = 1 | distortion_scale = 0.5, p = 1 | distortion_scale = 0.9, p = 1"},
    {"elastic", "deforms the picture by a smooth random field", &make_elastic, kElasticArgs,
     "alpha = 20 | alpha = 80 | alpha = 200, sigma = 8"},
    {"rand_augment", "applies operators drawn from fourteen, all of one magnitude", &make_rand_augment,
     kRandAugmentArgs, "magnitude = 3 | magnitude = 9 | magnitude = 20"},
    {"trivial_augment_wide", "applies one of fourteen operators, with a magnitude drawn from a wide range",
     &make_trivial_augment_wide, kTrivialAugmentArgs, "num_magnitude_bins = 31"},
    {"auto_augment", "applies one of the 25 pairs of operators that were found for a data set", &make_auto_augment,
     kAutoAugmentArgs, "policy = 'imagenet' | policy = 'cifar10' | policy = 'svhn'"},
    {"aug_mix", "blends the picture with the results of several chains of operators", &make_aug_mix, kAugMixArgs,
     "severity = 3 | severity = 6 | severity = 10"},
    {"timm_augment", "applies a policy as timm names and draws it", &make_timm_augment, kTimmAugmentArgs,
     "spec = 'rand-m3-mstd0.5' | spec = 'rand-m9-mstd0.5-inc1' | spec = 'rand-m15-n4-mstd0.5-inc1'"},
};

}  // namespace

std::span<const OperatorSpec> picture_operators() { return kPictureOperators; }

}  // namespace stoker
