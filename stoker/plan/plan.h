// A recipe, checked and compiled: for each view the composed families, the outputs, and the stages that may run
// separately.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/function/sample_function.h"
#include "stoker/ops/array/array_program.h"
#include "stoker/ops/color_map.h"
#include "stoker/ops/decode_options.h"
#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/json_number.h"
#include "stoker/ops/mask_options.h"
#include "stoker/ops/object_options.h"
#include "stoker/ops/one_hot.h"
#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/source_warp.h"
#include "stoker/ops/text_options.h"
#include "stoker/ops/token_options.h"
#include "stoker/plan/mix_program.h"
#include "stoker/plan/recipe.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// Goes up whenever the same recipe, seed and data would give other pixels or another order.
constexpr int kSemanticsVersion = 8;

/// What a view of images comes to.
struct ImageProgram {
  DecodeOptions decode;
  Geometry geometry;
  SourceWarp source_warp;  // amid the operators of geometry
  PictureChain picture;
  ColorMap color;
  EraseChain erase;
  TensorFormat format;

  /// How a sample with this image is made. Throws what Geometry::draw and SourceWarp::draw do.
  WarpedSampling draw(const SeenImage& image, const SampleDraw& sample) const {
    return source_warp.draw(geometry, image, sample);
  }
  /// What the stage of geometry makes of every image. The sizes of all must be the same.
  ImageSize canvas_size() const { return source_warp.canvas(*geometry.output_size()); }
};

enum class ViewKind : std::uint8_t {
  kImage,
  kMask,       // of an image: its pixels' classes
  kBoxes,      // of an image: its objects', and of those
  kBoxLabels,  // the classes,
  kKeypoints,  // points,
  kInstances,  // and masks
  kText,       // bytes, of each sample as many as it has
  kTokens,     // a sequence of them
  kArray,      // numbers of any type and shape
  kLabel,
  kNumber,
  kShare,   // what a sample's own label weighs: 1, before samples are mixed
  kDigest,  // two whole numbers: a FieldDigest
  kGiven,   // what a function of the user's gives
};

struct ViewPlan {
  std::string name;
  ViewKind kind = ViewKind::kImage;
  int field = -1;                            // which of Plan::fields() it reads; -1 for labels and shares
  ImageProgram image;                        // of kind kImage
  std::optional<std::size_t> looks_at{};     // and the view of the boxes that its geometry looks at
  std::optional<std::size_t> as_large_as{};  // the image of which it shows the same part, if it is another field's
  MaskOptions mask;                          // of kind kMask
  ObjectOptions objects;                     // of kinds kBoxes to kInstances
  std::size_t boxes = 0;                     // of these: the number of the view with the boxes,
  int boxes_field = -1;                      // and the field that this one reads
  TextOptions text;                          // of kind kText
  TokenOptions tokens;                       // of kind kTokens
  ArrayProgram array;                        // of kind kArray
  std::size_t like = 0;                      // of all that goes along with an image: the number of the view with it
  JsonNumber number;                         // of kind kNumber
  OneHot one_hot;                            // what a whole number becomes
  GivenValue given;                          // of kind kGiven
  std::optional<RowPadding> row_padding{};   // of what has rows; all but the room
  int rows_of = 1;                           // so many samples' rows may come together when samples are mixed

  /// Of a view that is not an image.
  DType plain_type() const;
  bool is_number() const { return kind == ViewKind::kLabel || kind == ViewKind::kNumber; }
  /// Its rows are a sample's objects.
  bool has_objects() const { return kind >= ViewKind::kBoxes && kind <= ViewKind::kInstances; }
  /// It goes where an image goes,
  bool goes_along() const { return kind == ViewKind::kMask || has_objects(); }
  /// and is as large.
  bool has_size_of_image() const { return kind == ViewKind::kMask || kind == ViewKind::kInstances; }
  /// Its value has nothing to do with where an image went.
  bool is_plain() const { return kind != ViewKind::kImage && kind != ViewKind::kGiven && !goes_along(); }
};

/// A function of the user's, with the numbers of the views that it takes and of those that it gives, in its order.
struct FunctionPlan {
  FunctionSpec spec;
  std::vector<std::size_t> takes, gives;
  std::vector<ValueMeaning> meanings;  // of what it takes
  std::uint64_t stream = 0;            // of its random numbers
};

/// A view that a function of whole batches takes, and what a batch keeps of each slot until the function is called.
struct KeptView {
  std::size_t view = 0;
  OutputSpec spec;
};

/// A stage of one view (ops/stage.h): a group of operators, the unit that runs on the CPU or on the device.
struct StageSpec {
  std::string name;                       // the stage's; "view.stage" where there are several images
  std::vector<std::string> operators;     // as the recipe calls them
  std::optional<std::int64_t> bytes_out;  // per sample; nullopt where it depends on the image: see ImageStages::begin
};

/// Limits of one view's output per sample.
constexpr int kOutputSideMax = 65'535;
constexpr std::int64_t kOutputBytesMax = std::int64_t{1} << 30;

class Plan {
 public:
  /// Throws kUsage for a recipe that cannot run, with the reason, or a STOKER_ISA that is not there, and kLimit for an
  /// output that is too large.
  explicit Plan(Recipe recipe);

  const Recipe& recipe() const { return recipe_; }
  /// The outputs: those of the recipe, what functions give, what mixing adds. After them the views that functions take,
  /// which are no outputs.
  const std::vector<ViewPlan>& views() const { return views_; }
  std::size_t output_count() const { return output_count_; }
  const std::vector<FunctionPlan>& functions() const { return functions_; }
  /// Of all functions of whole batches, in the order of these views.
  const std::vector<KeptView>& kept_views() const { return kept_views_; }
  /// What is done across the samples of a batch.
  const MixProgram& mixing() const { return mixing_; }
  /// The fields of a sample that must be read: "image" or a field's name, each once.
  const std::vector<std::string>& fields() const { return fields_; }
  /// Those of them that samples may lack.
  const std::vector<std::string>& optional_fields() const { return optional_fields_; }
  const std::vector<StageSpec>& stages() const { return stages_; }

  /// The batch's outputs, in recipe order. Throws kUsage, naming the view, if the size of one depends on the image.
  std::vector<OutputSpec> outputs() const;
  /// Those of one batch, named by any of its samples: no larger than the above.
  std::vector<OutputSpec> outputs(const SampleDraw& sample) const;
  /// Whether they differ from batch to batch.
  bool outputs_vary() const;

  /// The spec of a view whose value has this shape.
  static OutputSpec output_of(const ViewPlan& view, const Shape& shape);
  /// The shape of an image that comes out in this size. Throws kLimit, naming the view, if that is too large.
  static Shape image_shape_of(const ViewPlan& view, ImageSize size);
  /// The shape of a mask whose image comes out in this size.
  static Shape mask_shape_of(ImageSize size) { return {size.height, size.width}; }
  /// The shape of what such a view takes of so many objects, where the image comes out in this size.
  static Shape objects_shape_of(const ViewPlan& view, std::int64_t count, ImageSize size);
  /// The shape of the value of a view that is neither an image nor goes along with one; of an array, the largest.
  static Shape number_shape_of(const ViewPlan& view);
  /// The size of all images of a view, or where batches have several sizes, the bound of them; nullopt where it depends
  /// on the image. Throws kLimit, naming the view.
  static std::optional<ImageSize> output_size(const ViewPlan& view);

 private:
  void check_functions() const;
  void compile_functions();
  ValueMeaning meaning_of(const FunctionPlan& function, const ViewPlan& view) const;
  void find_canvas(const FunctionPlan& function, const ViewPlan& boxes, ValueMeaning& meaning) const;
  OutputSpec kept_of(const FunctionSpec& function, const ViewPlan& view) const;
  void compile_views();
  void compile_outputs_of_mixing();
  void compile(const View& view);
  void compile_image(const View& view, ViewPlan& plan);
  static void compile_mask(const View& view, ViewPlan& plan);
  void compile_objects(const View& view, ViewPlan& plan) const;
  void compile_text(const View& view, ViewPlan& plan) const;
  void compile_rows(const View& view, std::string_view why, ViewPlan& plan) const;
  void pad(const View& view, const OperatorCall& call, ViewPlan& plan) const;
  static void compile_given(ViewPlan& plan);
  static void compile_tokens(const View& view, ViewPlan& plan);
  void compile_array(const View& view, ViewPlan& plan) const;
  void compile_number(const View& view, ViewPlan& plan);
  void join();
  void join_to_image(std::size_t number);
  void join_to_boxes(std::size_t number);
  void join_to_array(std::size_t number);
  void join_draw_group(std::size_t number);
  void join_looks(std::size_t number);
  OutputSpec output_of_view(const ViewPlan& view) const;
  static OutputSpec in_rows(const ViewPlan& view, OutputSpec output);
  static OutputSpec output_of_size(const ViewPlan& view, ImageSize size);
  static void make_optional(const View& view, ViewPlan& plan);
  int field_number(const std::string& name, bool may_lack = false);

  Recipe recipe_;
  std::vector<ViewPlan> views_;
  std::vector<std::string> likes_, draw_groups_;  // by view, as the recipe has them
  std::size_t output_count_ = 0;
  std::vector<FunctionPlan> functions_;
  std::vector<KeptView> kept_views_;
  MixProgram mixing_;
  std::vector<std::string> fields_, optional_fields_;
  std::vector<StageSpec> stages_;
};

/// The size of the images of an output.
ImageSize image_size_of(const OutputSpec& output);

}  // namespace stoker
