// The seam for operators on pictures: they follow the geometry (except warps: source_warp.h) and work on 8-bit RGB of
// the output's size, before it is normalized. Each draws steps (picture_step.h), which the kernels of the family
// execute.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/color_map.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/picture/picture_step.h"

namespace stoker {

/// How the color step, with a ColorMap that changes nothing, stores the picture that operators work on.
inline constexpr TensorFormat kPictureFormat = {.dtype = DType::kU8, .layout = Layout::kNchw};

/// Memory that grows with a picture.
struct PictureBytes {
  std::size_t of_pixel = 0, of_row = 0, of_column = 0, at_all = 0;

  std::size_t of(ImageSize size) const;
  PictureBytes max(const PictureBytes& other) const;
};

/// The most that an operator's steps for one picture need.
struct PictureBounds {
  int steps = 1;
  int kept = 0;                   // pictures that its steps put aside for later ones of them
  std::size_t work_of_pixel = 0;  // bytes by which its steps pass on what is no picture, for each pixel
  // What the CPU's kernels of its steps need for themselves, during a pass; the meaning and devices need nothing.
  PictureBytes scratch{};
};

class PictureOperator {
 public:
  virtual ~PictureOperator() = default;

  /// Draws what is random, and adds the steps of one picture, or none. Cannot fail.
  virtual void draw(Random& random, ImageSize size, PictureSteps& steps) const = 0;
  virtual PictureBounds bounds() const { return {}; }
  /// Whether its steps are warps by a matrix (WarpStep) alone: such operators may precede others of geometry.
  virtual bool only_warps() const { return false; }
};

/// The operators on pictures of one view.
class PictureChain {
 public:
  /// `stream` names the operator's random numbers (random_stream). Throws kUsage for more than kPictureStepsMax steps.
  void append(std::unique_ptr<const PictureOperator> op, std::uint64_t stream);

  /// Room for so much besides: the steps that draw() is given.
  void add_bounds(const PictureBounds& more);

  /// Whether it never has a step.
  bool empty() const { return bounds_.steps == 0; }
  /// The steps of one sample, instead of what `steps` held: after these, if any. Allocates nothing.
  void draw(ImageSize size, const SampleDraw& sample, PictureSteps& steps,
            std::span<const PictureStep> first = {}) const;
  const PictureBounds& bounds() const { return bounds_; }

 private:
  struct Operator {
    std::unique_ptr<const PictureOperator> op;
    std::uint64_t stream;
  };
  std::vector<Operator> operators_;
  PictureBounds bounds_{.steps = 0};
};

/// Where the parts of a picture's memory are, in bytes: first the picture itself, then a second buffer, what is kept,
/// the work and the kernels' scratch. Each is aligned to kAlignment if the memory is.
struct PictureLayout {
  static constexpr std::size_t kAlignment = 64;

  std::size_t picture = 0;  // what one picture takes, rounded up
  std::size_t kept = 0;
  std::size_t work = 0;
  std::size_t scratch = 0;  // the last part, which a device has no use for
  std::size_t bytes = 0;    // of all

  ImageSize begin;  // of the first picture: only warps may make another size of it

  PictureLayout(const PictureBounds& bounds, ImageSize size, ImageSize first);
  PictureLayout(const PictureBounds& bounds, ImageSize size) : PictureLayout(bounds, size, size) {}
};

}  // namespace stoker
