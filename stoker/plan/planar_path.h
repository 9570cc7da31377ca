// The planar path: each plane of a JPEG is resampled directly to the target size, then converted to RGB
// (docs/pixels.md).
#pragma once

#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/plan/pixel_path.h"

namespace stoker {

class PlanarPath final : public PixelPath {
 public:
  void begin(const ImageWork& work) override;
  /// Whether the image that begin() was given has planes. If not, nothing else may be called.
  bool takes_it() const { return planes_.count > 0; }

  std::uint64_t decode_memory() const override;
  std::uint64_t decode_memory_max() const override;
  StageTensor decoded() const override;
  StageTensor resized() const override;
  MutableImageView resized_view(std::uint8_t* memory) const override;

  void decode() override;
  void geometry(MutableImageView out) override;
  void color(ImageView resized, std::uint8_t* out) const override;
  void transform(std::uint8_t* out) override;

  bool hand_over_coded(DeviceBatch::Room& room, DeviceItem& item) override;
  bool hand_over_file(DeviceBatch::Room& room, DeviceItem& item) override;
  bool hand_over_decoded(DeviceBatch::Room& room, DeviceItem& item) override;
  DeviceResized::Kind resized_kind() const override { return DeviceResized::Kind::kYcc; }

 private:
  Rect window() const;

  const ImageWork* work_ = nullptr;
  Turn turn_;
  PlanarTaps taps_;
  Planes planes_;
  PlanarResampler resampler_;
  Scratch turned_;
};

}  // namespace stoker
