// The seam for the ways from an image's bytes to its tensor: one over RGB pixels, one over the planes of a JPEG.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/codec/image_decoder.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"
#include "stoker/tensor/orientation.h"

namespace stoker {

/// One image, and what is to become of it.
struct ImageWork {
  const ImageProgram* program = nullptr;
  Bytes encoded, entry_points;
  AnyImageDecoder* decoder = nullptr;
  ImageFacts facts;
  Orientation orientation = 1;  // by which it is to be turned upright
  SamplingMap map;              // of the upright image
  ColorMap color;               // of the color step, and
  TensorFormat format;  // of what it puts out: the view's, or those of a picture for the view's operators on them

  ImageSize size() const { return {map.width(), map.height()}; }
};

/// What a stage puts out.
struct StageTensor {
  DType dtype = DType::kU8;
  Shape shape;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
};

/// Keeps scratch from image to image. The work that begin() was given must stay as it is until the last stage is done.
class PixelPath {
 public:
  virtual ~PixelPath() = default;

  /// Lays out the work.
  virtual void begin(const ImageWork& work) = 0;
  /// What decode() will take of memory, about.
  virtual std::uint64_t decode_memory() const = 0;
  /// The same for whatever part of the image.
  virtual std::uint64_t decode_memory_max() const = 0;
  /// What decode() and geometry() put out.
  virtual StageTensor decoded() const = 0;
  virtual StageTensor resized() const = 0;
  /// A view, as geometry() wants it, of memory for what it puts out.
  virtual MutableImageView resized_view(std::uint8_t* memory) const = 0;

  /// Stage 1. Kept until the next begin().
  virtual void decode() = 0;
  /// Stage 2. Resized 8-bit pixels or planes, of the output's size.
  virtual void geometry(MutableImageView out) = 0;
  /// Stage 3, but for the view's operators on pictures: the finished tensor, or the picture that they begin with.
  virtual void color(ImageView resized, std::uint8_t* out) const = 0;
  /// geometry() and color() in one pass: the same bits.
  virtual void transform(std::uint8_t* out) = 0;

  /// The image before decode(), or what that made, for a device to go on with. False if there is no room, or no device
  /// can. `item` has no slot yet.
  virtual bool hand_over_coded(DeviceBatch::Room&, DeviceItem&) { return false; }
  /// Likewise before decode(), the whole file for nvJPEG; whether its data is sound nobody has looked then.
  virtual bool hand_over_file(DeviceBatch::Room&, DeviceItem&) { return false; }
  virtual bool hand_over_decoded(DeviceBatch::Room& room, DeviceItem& item) = 0;
  /// How geometry() leaves its output.
  virtual DeviceResized::Kind resized_kind() const = 0;
};

}  // namespace stoker
