// The faithful path: a window of RGB, resampled as Pillow does.
#pragma once

#include "stoker/plan/pixel_path.h"

namespace stoker {

class RgbPath final : public PixelPath {
 public:
  explicit RgbPath(StageScratch& scratch) : scratch_(scratch) {}

  void begin(const ImageWork& work) override;
  Rect window() const override;
  std::uint64_t decode_memory(Rect window) const override;
  std::int64_t decode_work(Rect window) const override;
  StageTensor decoded() const override;
  StageTensor resized() const override;
  std::size_t decoded_bytes(std::span<PixelPath* const> paths) const override;
  MutableImageView resized_view(std::uint8_t* memory) const override;

  DecodedImage decode(AnyImageDecoder& decoder, Rect window) const override;
  void use(const DecodedImage& decoded) override;
  void geometry(MutableImageView out) override;
  void color(ImageView resized, std::uint8_t* out) const override;
  void transform(std::uint8_t* out) override;

  bool hand_over_decoded(const SharedHandOver& shared) const override;
  DeviceResized::Kind resized_kind() const override { return DeviceResized::Kind::kRgb; }

 private:
  Rect upright_window() const;
  static Rect upright_window_of(std::span<PixelPath* const> paths);
  ResampleSource source_in(Rect upright) const;

  StageScratch& scratch_;
  const ImageWork* work_ = nullptr;
  AxisTaps taps_x_, taps_y_;
  PassOrder order_ = PassOrder::kHorizontalFirst;
  DecodedImage decoded_;
};

}  // namespace stoker
