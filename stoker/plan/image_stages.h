// The stages of a view on one image.
#pragma once

#include "stoker/plan/image_course.h"
#include "stoker/plan/planar_path.h"
#include "stoker/plan/rgb_path.h"

namespace stoker {

/// What the stages of a view put out for one sample: enough to grant the memory of any prefix of them beforehand.
struct StageOutputs {
  StageTensor decode;    // what the next stage reads: RGB pixels of a window, or the samples of planes
  StageTensor geometry;  // resized: RGB rows x columns x 3, or planes 3 x rows x columns
  StageTensor color;     // as the batch holds it
};

/// One image at a time through the stages of a view, each of which can also run alone: a prefix of them is what the CPU
/// does when the rest happens elsewhere. One per thread and view; SampleImages decodes for those of a sample.
class ImageStages {
 public:
  /// `scratch` may be that of others and must outlive it.
  explicit ImageStages(StageScratch& scratch) : scratch_(scratch), rgb_(scratch), planar_(scratch) {}

  /// Draws the random numbers and lays out the work. `view` and `image` must stay until the last stage is done; `seen`
  /// is the image upright. `for_device`: a device may do the rest, for which what the stages put out has the same size
  /// for all images. Throws kUsage for an image that the view's operators cannot treat, and kLimit for an output that
  /// is too large.
  void begin(const ViewPlan& view, const CodedImage& image, const SeenImage& seen, const SampleDraw& draw,
             bool for_device);

  /// Until the next begin(): what each stage will put out,
  const StageOutputs& outputs() const { return outputs_; }
  /// the first two stages, and the hand-over,
  PixelPath& path() const { return *path_; }
  /// and whether those of another view can go on from what is decoded for this one.
  bool may_share_with(const ImageStages& other) const;

  /// Stage 3: the finished tensor of resized pixels or planes.
  void color(ImageView resized, std::uint8_t* out);
  /// Stages 2 and 3, in one pass unless there are operators on pictures: the same bits.
  void transform(std::uint8_t* out);
  /// Where the image goes, for masks that go with it.
  ImageCourse course() const;
  /// The steps that begin the view's operators on pictures: those of warps before the last operators of geometry.
  std::span<const PictureStep> first_steps() const { return sampling_.steps(); }
  /// What operators on pictures take of memory, and what they take at most, whatever warps are drawn, in a batch of the
  /// largest size.
  std::uint64_t picture_memory() const;
  std::uint64_t picture_memory_max() const;

 private:
  bool has_picture() const { return !work_.program->picture.empty(); }
  PictureLayout picture_layout() const;
  template <class Write>
  void finish_picture(const Write& write, std::uint8_t* out);
  void erase(std::uint8_t* out) const;

  StageScratch& scratch_;
  RgbPath rgb_;
  PlanarPath planar_;
  ImageWork work_;
  ImageSize upright_;
  PixelPath* path_ = nullptr;  // one of the two
  WarpedSampling sampling_{};
  PictureSteps steps_;
  EraseSteps erased_;
  StageOutputs outputs_;
};

/// Of an image as a view shows it.
ImageSize upright_size(const ImageFacts& facts, const DecodeOptions& options);

}  // namespace stoker
