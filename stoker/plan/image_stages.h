// The stages of a view on one image.
#pragma once

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
/// does when the rest happens elsewhere. Keeps scratch; one per thread.
class ImageStages {
 public:
  explicit ImageStages(DecodeLimits limits = {}) : decoder_(limits) {}

  /// Reads the header, draws the random numbers and lays out the work; returns what each stage will put out. `view` and
  /// `encoded` must stay until the last stage is done. Throws kBadSample, and kLimit for an output that is too large.
  /// `entry_points` are those of the image, if an index has them.
  StageOutputs begin(const ViewPlan& view, Bytes encoded, const SampleDraw& draw, Bytes entry_points = {});

  /// What decode() will take of memory, about.
  std::uint64_t decode_memory() const { return path_->decode_memory(); }
  /// At most, whatever the random numbers.
  std::uint64_t decode_memory_max() const { return path_->decode_memory_max(); }

  /// Stage 1. Kept until the next begin().
  void decode() { path_->decode(decoder_); }
  /// Stage 2. Resized 8-bit pixels or planes, of the output's size, to resized_view() of as much memory as they take.
  void geometry(MutableImageView out) { path_->geometry(out); }
  MutableImageView resized_view(std::uint8_t* memory) const { return path_->resized_view(memory); }
  /// Stage 3. The finished tensor.
  void color(ImageView resized, std::uint8_t* out) const { path_->color(resized, out); }
  /// Stages 2 and 3 in one pass: the same bits.
  void transform(std::uint8_t* out) { path_->transform(out); }

  /// For a device, in place of stage 1, or after it; see PixelPath.
  bool hand_over_coded(DeviceRoom& room, DeviceItem& item) { return path_->hand_over_coded(decoder_, room, item); }
  bool hand_over_file(DeviceRoom& room, DeviceItem& item) { return path_->hand_over_file(decoder_, room, item); }
  bool hand_over_decoded(DeviceRoom& room, DeviceItem& item) { return path_->hand_over_decoded(room, item); }
  DeviceResized::Kind resized_kind() const { return path_->resized_kind(); }

  PlaneDecodes plane_decodes() const { return decoder_.plane_decodes(); }

 private:
  AnyImageDecoder decoder_;
  RgbPath rgb_;
  PlanarPath planar_;
  ImageWork work_;
  PixelPath* path_ = nullptr;  // one of the two
};

}  // namespace stoker
