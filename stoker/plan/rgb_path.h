// The faithful path: a window of RGB, resampled as Pillow does.
#pragma once

#include "stoker/ops/kernels/resample/resample.h"
#include "stoker/plan/pixel_path.h"

namespace stoker {

class RgbPath final : public PixelPath {
 public:
  void begin(const ImageWork& work) override;
  std::uint64_t decode_memory() const override;
  std::uint64_t decode_memory_max() const override;
  StageTensor decoded() const override;
  StageTensor resized() const override;
  MutableImageView resized_view(std::uint8_t* memory) const override;

  void decode() override;
  void geometry(MutableImageView out) override;
  void color(ImageView resized, std::uint8_t* out) const override;
  void transform(std::uint8_t* out) override;

  bool hand_over_decoded(DeviceBatch::Room& room, DeviceItem& item) override;
  DeviceResized::Kind resized_kind() const override { return DeviceResized::Kind::kRgb; }

 private:
  Rect window() const;
  Rect window_as_stored() const;

  const ImageWork* work_ = nullptr;
  AxisTaps taps_x_, taps_y_;
  PassOrder order_ = PassOrder::kHorizontalFirst;
  Resampler resampler_;
  ResampleSource source_;
};

}  // namespace stoker
