// The processing that the user wants, as data: views of a sample's fields, each with its operators, which become the
// batch's outputs. Written as a chain of calls, or as TOML; docs and command line list the operators from the same
// table. Threads: a value; many may read it, one may change it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/ops/operator_call.h"

namespace stoker {

/// One output of the batch: a field of the sample, processed by operators.
struct View {
  std::string name;   // of the output: an identifier, and none that a batch has for something else
  std::string field;  // any text; "image": the sample's image, whatever its codec; "label": its class number; else a
                      // field's name
  std::vector<OperatorCall> operators;
  std::string draw_group{};  // views of one group draw the same random numbers; empty: the group of the view's name

  friend bool operator==(const View&, const View&) = default;
};

class Recipe {
 public:
  /// Views "image", still without operators, and "label".
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

  const std::vector<View>& views() const { return views_; }
  /// What is done across the samples of a batch, in order.
  const std::vector<OperatorCall>& batch() const { return batch_; }
  /// The default tail of the recipe: "pad" for evaluation, else "drop".
  const std::string& tail() const { return tail_; }

  /// Adds any operator to the current view, or to the batch if it is of that family. Throws kUsage for calls that the
  /// operator table does not permit.
  Recipe& add(OperatorCall call);
  /// Following calls work on the view of this name, which is added if it does not exist. An existing view without
  /// operators, such as the label, reads another field if one is named. Throws kUsage for a name that is not a letter
  /// followed by letters, digits and underscores, or is one of the batch's own attributes, and for another field of a
  /// view that has operators.
  Recipe& view(std::string_view name, std::string_view field = "image");
  /// Puts the current view into a group whose views draw the same random numbers; by default a view's group is its own
  /// name.
  Recipe& draw_group(std::string_view group);
  /// drop, wrap, pad or keep; throws kUsage for anything else.
  Recipe& set_tail(std::string_view tail);
  /// Sets this mode in all decode operators; throws kUsage for an unknown mode.
  Recipe& set_decode_mode(std::string_view mode);

  // The operators as a chain; what they mean stands in `stoker ops`.
  Recipe& decode(std::string_view mode = "planar", std::string_view orientation = "ignore");
  Recipe& resize(int short_side, std::string_view filter = "bilinear");
  Recipe& resize(int height, int width, std::string_view filter = "bilinear");
  Recipe& crop(int x, int y, int width, int height);
  Recipe& center_crop(int size, double fill = 0);
  Recipe& random_crop(int size, int padding = 0, double fill = 0);
  Recipe& random_resized_crop(int size, std::vector<double> scale = {0.08, 1},
                              std::vector<double> ratio = {3.0 / 4, 4.0 / 3}, std::string_view filter = "bilinear");
  Recipe& flip(std::string_view axis = "horizontal");
  Recipe& random_flip(double p = 0.5, std::string_view axis = "horizontal");
  Recipe& pad(std::vector<double> padding, std::vector<double> fill = {0});
  Recipe& brightness(std::vector<double> factor);
  Recipe& invert();
  Recipe& normalize(std::string_view preset);
  Recipe& normalize(std::vector<double> mean, std::vector<double> std, double scale = 255);
  Recipe& channel_order(std::string_view order);
  Recipe& cast(std::string_view dtype);
  Recipe& layout(std::string_view layout);
  Recipe& json_number(std::string_view key, std::string_view dtype = "i64");
  Recipe& one_hot(int classes, double smoothing = 0);
  Recipe& mixup(double alpha = 1, double p = 1, std::string_view mode = "batch", std::string_view labels = "soft",
                std::string_view views = "");
  Recipe& cutmix(double alpha = 1, double p = 1, std::string_view mode = "batch", std::string_view labels = "soft",
                 std::string_view views = "");
  Recipe& mixup_or_cutmix(double mixup_alpha = 0.8, double cutmix_alpha = 1, double switch_prob = 0.5, double prob = 1,
                          std::string_view mode = "batch", std::string_view labels = "soft",
                          std::string_view views = "");
  Recipe& mosaic(double alpha = 1, double p = 1, std::string_view mode = "group", std::string_view views = "");

  friend bool operator==(const Recipe& a, const Recipe& b) {
    return a.views_ == b.views_ && a.batch_ == b.batch_ && a.tail_ == b.tail_;
  }

 private:
  std::vector<View> views_;
  std::vector<OperatorCall> batch_;
  std::size_t current_ = 0;
  std::string tail_ = "drop";
};

}  // namespace stoker
