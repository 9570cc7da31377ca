// Warps that precede operators of geometry. Warp, crop, resize and flip become one map from the output to the source;
// the source is resized to a canvas, as far as the output shows it and in its scale, and a warp reads that.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {

/// How one sample is made: `map` makes the canvas of the source, and from that the steps make the output.
struct WarpedSampling {
  SamplingMap map;
  ImageSize size;  // of the output
  ImageSize read;  // of the canvas, the part at its upper left that the steps read
  Area image;      // where the image lies that is warped, on the canvas and beyond it
  bool warped;     // false: nothing was drawn, and that part is the output
  static constexpr int kStepsMax = 2;
  int step_count;
  std::array<PictureStep, kStepsMax> step;  // a warp, and the frame of what later operators pad

  std::span<const PictureStep> steps() const { return {step.data(), static_cast<std::size_t>(step_count)}; }
  /// The same result with no more of a canvas than it reads.
  void shorten();
  /// For a canvas that is made in planes: what lies beyond it gets the colour that padding has on it.
  void fill_as_planes_do();
};

class SourceWarp {
 public:
  /// An operator of warps alone. `stream` names its random numbers, and `call` is how it was called. Throws kUsage if
  /// it reads or fills another way than those before it.
  void append(const OperatorCall& call, std::unique_ptr<const PictureOperator> op, std::uint64_t stream);

  bool empty() const { return warps_.empty(); }
  /// Of the steps that are drawn.
  static PictureBounds bounds();
  /// The canvas of outputs of this size; without warps the output itself. Throws kLimit if it is too large.
  ImageSize canvas(ImageSize output) const;
  /// `geometry` is split where the warps stand. Throws what its operators throw, and kLimit for too large a canvas.
  WarpedSampling draw(const Geometry& geometry, const SeenImage& image, const SampleDraw& sample) const;

 private:
  void add_look(const OperatorCall& call);
  WarpedSampling unwarped(SamplingMap map) const;
  PictureStep step_of(const PlaneMap& source) const;

  PictureChain warps_;
  std::optional<WarpLook> look_;  // of all
};

}  // namespace stoker
