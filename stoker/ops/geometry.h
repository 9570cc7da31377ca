// The meaning of the geometry family's operators. Each turns random numbers and the current sampling map into the next
// map; so a chain of them costs one resampling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/combination.h"
#include "stoker/ops/operator_call.h"
#include "stoker/ops/sampling_map.h"

namespace stoker {

struct ImageSize {
  int width = 0, height = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// The box of an object, in pixels of the image from its upper left corner.
struct ObjectBox {
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// The image that operators of geometry are drawn for.
struct SeenImage {
  SeenImage(ImageSize own_size) : size(own_size), as_large_as(own_size) {}
  SeenImage(int width, int height) : SeenImage(ImageSize{width, height}) {}

  ImageSize size;         // upright
  ImageSize as_large_as;  // what it is taken for, and resized to: an image that it belongs to may be larger
  std::span<const ObjectBox> boxes{};  // of its objects, where operators look at them
};

/// No operator of a chain may make a longer side, whatever later ones cut off again: sums of sides never overflow.
constexpr int kChainSideMax = 1'000'000;

/// Operators of which one is drawn for all samples of a batch; none: everything is drawn for each sample.
struct GeometryChoice {
  const Combination* combination = nullptr;
  std::span<const std::unique_ptr<GeometryOperator>> members{};
};

using PaddingColor = std::array<std::uint8_t, 3>;

class GeometryOperator {
 public:
  virtual ~GeometryOperator() = default;

  /// Draws what is random and changes the map. Throws kBadSample when the image cannot be treated so (a crop larger
  /// than it, a resize of the border that it got because it is small), and kLimit where it would become too large.
  virtual void apply(Random& random, SamplingMap& map) const = 0;
  /// The same for operators that look at the objects of the image, as few do.
  virtual void apply_to(const SeenImage& /*image*/, Random& random, SamplingMap& map) const { apply(random, map); }
  virtual bool looks_at_boxes() const { return false; }

  /// What it does to a chain's padding, whatever the image.
  enum class Padding : std::uint8_t { kKeeps, kAdds, kMayCutOff, kCannotBear, kAddsButCannotBear };
  virtual Padding padding() const = 0;
  static bool adds(Padding padding) { return padding == Padding::kAdds || padding == Padding::kAddsButCannotBear; }
  static bool bears(Padding padding) {
    return padding != Padding::kCannotBear && padding != Padding::kAddsButCannotBear;
  }

  /// The colour of the padding that every image shows, before and after it; nullopt where there may be none. Throws
  /// kUsage if it surely pads beside another colour.
  virtual void follow_padding(std::optional<PaddingColor>& color) const {
    if (padding() != Padding::kKeeps) color.reset();
  }

  /// The size that comes out, if it is the same whatever the image: nullopt while it depends on the image.
  virtual std::optional<ImageSize> output_size(std::optional<ImageSize> input) const = 0;

  /// What it chooses among for a whole batch: Geometry then applies the member in its place.
  virtual GeometryChoice batch_choice() const { return {}; }
};

/// Which sample of which epoch is drawn for: the key of all its random numbers.
struct SampleDraw {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // in the epoch's global order
  std::uint64_t batch = 0;     // the global batch that it stands in: the key of what is drawn for a whole batch
};

/// A chain of geometry operators within one view.
class Geometry {
 public:
  /// `stream` names the operator's random numbers (random_stream). Throws kUsage for a resize of what is surely padded,
  /// for padding that is surely of two colours, for a second operator that chooses for whole batches, and for one that
  /// looks at boxes after split().
  void append(std::unique_ptr<const GeometryOperator> op, std::uint64_t stream);

  /// Warps stand after the operators so far (ops/picture/source_warp.h). Once at most. Throws kUsage if what they would
  /// read is surely padded.
  void split();

  bool empty() const { return steps_.empty(); }
  /// Whether it has to be told the boxes of objects.
  bool looks_at_boxes() const;
  /// The map of one sample with this image. Allocates nothing. Throws what the operators throw, and kLimit past
  /// kChainSideMax.
  SamplingMap draw(const SeenImage& image, const SampleDraw& sample) const;
  /// The same of the operators before split(), and of those after it, for an image that was warped between. `filter` is
  /// that of the first map: the second has it, too, unless one of its operators resizes.
  SamplingMap draw_before_split(const SeenImage& image, const SampleDraw& sample) const;
  SamplingMap draw_after_split(ImageSize image, Filter filter, const SampleDraw& sample) const;
  /// The size of every output, or nullopt when it depends on the image. Where it differs from batch to batch, the
  /// smallest size that none of theirs exceeds. Throws kLimit past kChainSideMax.
  std::optional<ImageSize> output_size() const;
  /// The size of the outputs of this sample's batch.
  std::optional<ImageSize> output_size(const SampleDraw& sample) const;
  /// Whether the batches of a run may have several sizes.
  bool size_varies() const;

 private:
  struct Step {
    std::unique_ptr<const GeometryOperator> op;
    std::uint64_t stream;
  };
  SamplingMap draw_steps(std::span<const Step> steps, const SeenImage& image, Filter filter,
                         const SampleDraw& sample) const;
  std::size_t chosen_member(const SampleDraw& sample) const;
  std::optional<ImageSize> size_with(std::size_t member) const;

  std::vector<Step> steps_;
  std::size_t split_ = 0;
  bool is_split_ = false;
  std::optional<std::size_t> choice_;          // the step that chooses for whole batches
  bool padded_ = false;                        // by an operator after which none crops
  std::optional<PaddingColor> padding_color_;  // of every image
};

// One maker per operator, for the operator table; the calls have been checked against it.
std::unique_ptr<GeometryOperator> make_resize(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_crop(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_center_crop(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_corner_crop(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_random_crop(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_random_resized_crop(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_flip(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_random_flip(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_pad(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_zoom_out(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_scale_jitter(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_letterbox(const OperatorCall& call);
std::unique_ptr<GeometryOperator> make_iou_crop(const OperatorCall& call);

/// A `size` argument: one number means a square, two mean [height, width].
ImageSize size_argument(const OperatorCall& call);
/// A `fill` argument: one number for all channels, or one each.
std::array<std::uint8_t, 3> fill_argument(const OperatorCall& call);

}  // namespace stoker
