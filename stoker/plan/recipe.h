// The processing that the user wants, as data: views of a sample's fields, each with its operators, which become the
// batch's outputs. Written as a chain of calls, or as TOML; docs and command line list the operators from the same
// table. Threads: a value; many may read it, one may change it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/function/function_spec.h"
#include "stoker/ops/operator_call.h"
#include "stoker/ops/several_views.h"

namespace stoker {

/// One output of the batch: a field of the sample, processed by operators.
struct View {
  std::string name;   // of the output: an identifier, and none that a batch has for something else
  std::string field;  // any text; "image": the sample's image, whatever its codec; "label": its class number; else a
                      // field's name
  std::vector<OperatorCall> operators;
  std::string draw_group{};  // views of one group draw the same random numbers; empty: the group of the view's name
  std::string like{};        // of what goes along with an image, or with boxes: their view
  bool is_optional = false;  // samples may lack the field: they are as those in which it has no bytes

  friend bool operator==(const View&, const View&) = default;
};

/// Of a view; and the name of one of them.
constexpr int kCopiesMax = 64;
std::string copy_name(std::string_view name, std::size_t number);

class Recipe {
 public:
  /// Views "image", still without operators, and "label". The first is dropped when another view gets the first
  /// operator.
  Recipe();

  /// A recipe that ships with Stoker; throws kUsage, suggesting the nearest name.
  static Recipe named(std::string_view name);
  static std::vector<std::string> names();
  /// The TOML form (docs/recipes.md). Throws kUsage naming line and mistake, and kLimit when it
  /// is nested beyond sense.
  static Recipe from_toml(std::string_view text);
  /// A shipped recipe's name, or the path of a TOML file.
  static Recipe load(const std::string& name_or_path);

  std::string to_toml() const;
  /// Of what samples become: equal for recipes that differ only in where functions are called, and in what time and
  /// memory they may take.
  std::uint64_t hash() const;

  const std::vector<View>& views() const { return views_; }
  /// What is done across the samples of a batch, in order.
  const std::vector<OperatorCall>& batch() const { return batch_; }
  /// The user's own, each called once for each sample.
  const std::vector<FunctionSpec>& functions() const { return functions_; }
  /// The function that takes this view, which is then no output; null if none does. Throws kUsage if two do.
  const FunctionSpec* function_taking(std::string_view view) const;
  /// The default tail of the recipe: "pad" for evaluation, else "drop".
  const std::string& tail() const { return tail_; }
  /// By default how often each sample of a global batch stands in it (OrderOptions::batch_repeats).
  std::int64_t batch_repeats() const { return batch_repeats_; }

  /// Adds any operator to the current view, or to each of them, or to the batch if it is of that family. One that makes
  /// several views puts them in its place, as NAME_0, NAME_1 and so on, which draw as it would; they are then the
  /// current ones. Throws kUsage for calls that the operator table does not permit.
  Recipe& add(OperatorCall call);
  /// Following calls work on the view of this name, which is added if it does not exist. An existing view without
  /// operators, such as the label, reads another field if one is named. With `copies` they work on each of so many
  /// views, NAME_0, NAME_1 and so on, which draw random numbers of their own; such views take the place of "image", if
  /// that has no operators. Throws kUsage for a name that is not a letter followed by letters, digits and underscores,
  /// or is one of the batch's own attributes, for another field of a view that has operators, and for copies below 1 or
  /// above kCopiesMax.
  Recipe& view(std::string_view name, std::string_view field = "image", std::optional<int> copies = {});
  /// Puts the current view into a group whose views draw the same random numbers; by default a view's group is its own
  /// name. Copies are put into GROUP_0, GROUP_1 and so on.
  Recipe& draw_group(std::string_view group);
  /// Makes the current view one that goes along with another view: a mask, or boxes, with an image, through its crops,
  /// flips and warps; labels, keypoints and masks of objects with boxes. Copies go along with NAME_0, NAME_1 and so on.
  Recipe& like(std::string_view name);
  /// Lets samples lack the field of the current view, which then has no bytes for them: no boxes, an empty text, no
  /// tokens. Throws kUsage, when a plan is made, for a view that begins with another operator.
  Recipe& optional();
  /// Adds a function of the user's. Throws kUsage for one that makes no sense, and for a name that is taken.
  Recipe& map(FunctionSpec function);
  /// What the recipe's text does not hold of its functions: one of each.
  Recipe& set_function_payloads(std::vector<std::string> payloads);
  /// Where all functions are called from now on.
  Recipe& set_function_home(FunctionHome home);
  /// drop, wrap, pad or keep; throws kUsage for anything else.
  Recipe& set_tail(std::string_view tail);
  /// Throws kUsage for less than 1.
  Recipe& set_batch_repeats(std::int64_t repeats);
  /// Sets this mode in all decode operators, and scale='full' if it is a faithful one, which knows no other. Throws
  /// kUsage for an unknown mode.
  Recipe& set_decode_mode(std::string_view mode);

  // The operators as a chain; what they mean stands in `stoker ops`.
  Recipe& decode(std::string_view mode = "planar", std::string_view orientation = "ignore",
                 std::string_view scale = "full");
  Recipe& resize(int short_side, std::string_view filter = "bilinear");
  Recipe& resize(int height, int width, std::string_view filter = "bilinear");
  Recipe& crop(int x, int y, int width, int height);
  Recipe& center_crop(int size, double fill = 0);
  Recipe& corner_crop(int size, std::string_view corner);
  Recipe& random_crop(int size, int padding = 0, double fill = 0, bool pad_if_needed = false);
  Recipe& random_resized_crop(int size, std::vector<double> scale = {0.08, 1},
                              std::vector<double> ratio = {3.0 / 4, 4.0 / 3}, std::string_view filter = "bilinear");
  Recipe& flip(std::string_view axis = "horizontal");
  Recipe& random_flip(double p = 0.5, std::string_view axis = "horizontal");
  Recipe& pad(std::vector<double> padding, std::vector<double> fill = {0});
  Recipe& zoom_out(int size, std::vector<double> side_range = {1, 4}, double p = 0.5,
                   std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& scale_jitter(int size, std::vector<double> scale = {0.1, 2}, std::string_view filter = "bilinear",
                       std::vector<double> fill = {0}, std::string_view fit = "inside");
  Recipe& letterbox(int size, std::string_view place = "center", bool enlarge = true,
                    std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& iou_crop(int size, double min_scale = 0.3, double max_scale = 1, double min_aspect_ratio = 0.5,
                   double max_aspect_ratio = 2, std::vector<double> sampler_options = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1},
                   int trials = 40, std::vector<double> side_range = {1, 1}, double zoom_p = 0.5,
                   std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& brightness(std::vector<double> factor);
  Recipe& contrast(std::vector<double> factor);
  Recipe& saturation(std::vector<double> factor);
  Recipe& hue(std::vector<double> factor);
  Recipe& color_jitter(std::vector<double> brightness = {0}, std::vector<double> contrast = {0},
                       std::vector<double> saturation = {0}, std::vector<double> hue = {0});
  Recipe& grayscale();
  Recipe& random_grayscale(double p = 0.1);
  Recipe& torchvision_brightness(std::vector<double> factor);
  Recipe& torchvision_contrast(std::vector<double> factor);
  Recipe& torchvision_saturation(std::vector<double> factor);
  Recipe& torchvision_hue(std::vector<double> factor);
  Recipe& torchvision_color_jitter(std::vector<double> brightness = {0}, std::vector<double> contrast = {0},
                                   std::vector<double> saturation = {0}, std::vector<double> hue = {0});
  Recipe& torchvision_grayscale();
  Recipe& invert();
  Recipe& random_invert(double p = 0.5);
  Recipe& posterize(int bits);
  Recipe& random_posterize(int bits, double p = 0.5);
  Recipe& solarize(double threshold);
  Recipe& random_solarize(double threshold, double p = 0.5);
  Recipe& equalize();
  Recipe& random_equalize(double p = 0.5);
  Recipe& autocontrast();
  Recipe& random_autocontrast(double p = 0.5);
  Recipe& gamma(std::vector<double> gamma, double gain = 1);
  Recipe& channel_permutation();
  Recipe& channel_dropout(std::vector<double> channels = {1}, std::vector<double> fill = {0}, double p = 0.5);
  Recipe& channel_affine(std::vector<double> scale = {1}, std::vector<double> bias = {0});
  Recipe& lighting(double alphastd = 0.1);
  Recipe& gaussian_blur(std::vector<double> kernel_size, std::vector<double> sigma = {0.1, 2});
  Recipe& sharpness(std::vector<double> factor);
  Recipe& random_sharpness(std::vector<double> factor, double p = 0.5);
  Recipe& gaussian_noise(double mean = 0, std::vector<double> sigma = {0.1});
  Recipe& shot_noise(std::vector<double> photons);
  Recipe& salt_and_pepper(std::vector<double> amount, std::vector<double> ratio = {0.5});
  Recipe& jpeg_degrade(std::vector<double> quality);
  Recipe& rotate(std::vector<double> degrees, std::string_view filter = "nearest", std::vector<double> fill = {0},
                 std::vector<double> center = {});
  Recipe& random_rotation(std::vector<double> degrees, std::string_view filter = "nearest",
                          std::vector<double> fill = {0}, std::vector<double> center = {});
  Recipe& affine(double angle = 0, std::vector<double> translate = {0, 0}, double scale = 1,
                 std::vector<double> shear = {0}, std::string_view filter = "nearest", std::vector<double> fill = {0},
                 std::vector<double> center = {});
  Recipe& random_affine(std::vector<double> degrees, std::vector<double> translate = {0, 0},
                        std::vector<double> scale = {1}, std::vector<double> shear = {0},
                        std::string_view filter = "nearest", std::vector<double> fill = {0},
                        std::vector<double> center = {});
  Recipe& shear_x(std::vector<double> factor, std::string_view filter = "nearest", std::vector<double> fill = {0});
  Recipe& shear_y(std::vector<double> factor, std::string_view filter = "nearest", std::vector<double> fill = {0});
  Recipe& translate_x(std::vector<double> pixels = {0}, std::vector<double> fraction = {0},
                      std::string_view filter = "nearest", std::vector<double> fill = {0});
  Recipe& translate_y(std::vector<double> pixels = {0}, std::vector<double> fraction = {0},
                      std::string_view filter = "nearest", std::vector<double> fill = {0});
  Recipe& perspective(std::vector<double> endpoints, std::vector<double> startpoints = {},
                      std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& random_perspective(double distortion_scale = 0.5, double p = 0.5, std::string_view filter = "bilinear",
                             std::vector<double> fill = {0});
  Recipe& elastic(std::vector<double> alpha = {50}, std::vector<double> sigma = {5},
                  std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& normalize(std::string_view preset);
  Recipe& normalize(std::vector<double> mean, std::vector<double> std, double scale = 255);
  Recipe& channel_order(std::string_view order);
  Recipe& random_erasing(double p = 0.5, std::vector<double> scale = {0.02, 0.33},
                         std::vector<double> ratio = {0.3, 3.3}, std::vector<double> value = {0},
                         std::string_view mode = "const", int min_count = 1, int max_count = 1);
  Recipe& cutout(int size, int count = 1, std::vector<double> value = {0});
  Recipe& grid_mask(std::vector<double> d = {96, 224}, double ratio = 0.5, double rotate = 0, double p = 1,
                    std::vector<double> value = {0});
  Recipe& cast(std::string_view dtype);
  Recipe& layout(std::string_view layout);
  Recipe& five_crop(int size);
  Recipe& ten_crop(int size, std::string_view axis = "horizontal");
  Recipe& decode_mask(std::string_view codes = "index", std::string_view classes = "stored", int fill = 255,
                      std::string_view dtype = "u8");
  Recipe& decode_boxes(std::string_view source, std::string_view form = "xyxy", bool fractions = false,
                       double min_size = 1, double min_visible = 0, std::string_view crowds = "drop", int most = 256,
                       std::string_view names = "voc", bool middle_seen = false);
  Recipe& box_labels();
  Recipe& decode_keypoints(int points = 17, std::string_view flip_pairs = "coco", bool fractions = false);
  Recipe& decode_instances(std::string_view source = "shapes");
  Recipe& decode_text(std::string_view key = "", int most = 4096, std::string_view longer = "refuse");
  Recipe& decode_bytes(int most = 4096, std::string_view longer = "refuse");
  Recipe& pad_to(int count, double fill = 0, std::string_view longer = "refuse");
  Recipe& decode_tokens(int length, std::string_view part = "inputs", std::string_view type = "", int eod = -1,
                        int pad = 0, std::string_view longer = "refuse");
  Recipe& decode_array(std::string_view dtype = "f32", std::vector<double> shape = {}, int most = 4096,
                       double fill = 0);
  Recipe& array_crop(std::vector<double> size, std::string_view place = "random", std::string_view smaller = "pad",
                     std::string_view around = "", double p = 1);
  Recipe& array_flip(std::vector<double> axes, double p = 0.5);
  Recipe& array_clip(double low, double high);
  Recipe& array_normalize(std::vector<double> mean, std::vector<double> std);
  Recipe& array_standardize(std::string_view per = "sample");
  Recipe& array_brightness(std::vector<double> factor, double p = 1);
  Recipe& array_noise(std::vector<double> sigma = {0, 0.1}, double mean = 0, double p = 1);
  Recipe& json_number(std::string_view key, std::string_view dtype = "i64");
  Recipe& digest();
  Recipe& rand_augment(int num_ops = 2, int magnitude = 9, int num_magnitude_bins = 31,
                       std::string_view filter = "nearest", std::vector<double> fill = {0});
  Recipe& trivial_augment_wide(int num_magnitude_bins = 31, std::string_view filter = "nearest",
                               std::vector<double> fill = {0});
  Recipe& auto_augment(std::string_view policy = "imagenet", std::string_view filter = "nearest",
                       std::vector<double> fill = {0});
  Recipe& aug_mix(int severity = 3, int mixture_width = 3, int chain_depth = -1, double alpha = 1, bool all_ops = true,
                  std::string_view filter = "bilinear", std::vector<double> fill = {0});
  Recipe& timm_augment(std::string_view spec, std::string_view filter = "bilinear",
                       std::vector<double> fill = {124, 116, 104});
  Recipe& one_hot(int classes, double smoothing = 0);
  Recipe& mixup(double alpha = 1, double p = 1, std::string_view mode = "batch", std::string_view labels = "soft",
                std::string_view views = "all");
  Recipe& cutmix(double alpha = 1, double p = 1, std::string_view mode = "batch", std::string_view labels = "soft",
                 std::string_view views = "all");
  Recipe& mixup_or_cutmix(double mixup_alpha = 0.8, double cutmix_alpha = 1, double switch_prob = 0.5, double prob = 1,
                          std::string_view mode = "batch", std::string_view labels = "soft",
                          std::string_view views = "all");
  Recipe& mosaic(double alpha = 1, double p = 1, std::string_view mode = "group", std::string_view views = "all");
  Recipe& sequence(OperatorCalls operators);
  Recipe& random_apply(OperatorCalls operators, double p = 0.5);
  Recipe& random_choice(OperatorCalls operators, std::vector<double> p = {}, std::string_view mode = "elem");
  Recipe& random_order(OperatorCalls operators);

  friend bool operator==(const Recipe& a, const Recipe& b) {
    return a.views_ == b.views_ && a.batch_ == b.batch_ && a.functions_ == b.functions_ && a.tail_ == b.tail_ &&
           a.batch_repeats_ == b.batch_repeats_;
  }

 private:
  void drop_unused_image();
  std::size_t place_of(std::string_view name, std::string_view field);
  void split(const std::vector<OperatorCalls>& parts);

  std::vector<View> views_;
  std::vector<OperatorCall> batch_;
  std::vector<FunctionSpec> functions_;
  std::vector<std::size_t> current_{0};  // ascending
  bool are_copies_ = false;              // the current ones
  bool has_default_image_ = true;        // the first view, which no call named
  bool image_was_dropped_ = false;       // it; and comes first again if a call names it
  std::string tail_ = "drop";
  std::int64_t batch_repeats_ = 1;
};

}  // namespace stoker
