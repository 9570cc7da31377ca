// The planar path: each plane of a JPEG is resampled directly to the target size, then converted to RGB
// (docs/pixels.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stoker/plan/pixel_path.h"

namespace stoker {

class PlanarPath final : public PixelPath {
 public:
  explicit PlanarPath(StageScratch& scratch) : scratch_(scratch) {}

  void begin(const ImageWork& work) override;
  /// Whether the image that begin() was given has planes. If not, nothing else may be called.
  bool takes_it() const { return planes_.count > 0; }
  /// Whether the two can go on from the same planes.
  bool may_share_with(const PlanarPath& other) const { return shrink_ == other.shrink_; }

  Rect window() const override;
  std::uint64_t decode_memory(Rect window) const override;
  std::int64_t decode_work(Rect window) const override;
  StageTensor decoded() const override;
  StageTensor resized() const override;
  std::size_t decoded_bytes(std::span<PixelPath* const> paths) const override;
  MutableImageView resized_view(std::uint8_t* memory) const override;

  DecodedImage decode(AnyImageDecoder& decoder, Rect window) const override;
  void use(const DecodedImage& decoded) override { planes_ = decoded.planes; }
  void geometry(MutableImageView out) override;
  void color(ImageView resized, std::uint8_t* out) const override;
  void transform(std::uint8_t* out) override;

  bool hand_over_coded(const SharedHandOver& shared) const override;
  bool hand_over_file(const SharedHandOver& shared) const override;
  bool hand_over_decoded(const SharedHandOver& shared) const override;
  DeviceResized::Kind resized_kind() const override { return DeviceResized::Kind::kYcc; }

 private:
  static const PlanarTaps& taps_of(const PixelPath& path) { return static_cast<const PlanarPath&>(path).taps_; }
  Planes planes_for(std::span<PixelPath* const> paths) const;
  static std::optional<std::size_t> taps_bytes(const SharedHandOver& shared, const Planes& held);
  template <class ItemOf>
  static void describe(const SharedHandOver& shared, const Planes& held, const std::uint64_t (&samples)[3],
                       DeviceGrant tables, const ItemOf& item_of);
  bool suits_nvjpeg() const;

  StageScratch& scratch_;
  const ImageWork* work_ = nullptr;
  Turn turn_;
  int shrink_ = 1;  // the image is decoded at this part of its size
  PlanarTaps taps_;
  Planes planes_;
};

}  // namespace stoker
