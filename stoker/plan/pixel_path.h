// The seam for the ways from an image's bytes to its tensor: one over RGB pixels, one over the planes of a JPEG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/codec/image_decoder.h"
#include "stoker/ops/kernels/picture/picture_runner.h"
#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/ops/kernels/resample/resample.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"
#include "stoker/tensor/orientation.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// A field of a sample that is an image, and what its header tells.
struct CodedImage {
  Bytes encoded, entry_points;
  ImageFacts facts;
  Planes planes;  // their sizes; count 0: there are none, or no view asks for them
};

/// One image, and what is to become of it in one view.
struct ImageWork {
  const ImageProgram* program = nullptr;
  const CodedImage* image = nullptr;
  Orientation orientation = 1;  // by which it is to be turned upright
  SamplingMap map;              // of the upright image
  ImageSize size;               // of the output, which warps may make of what the map shows
  ColorMap color;               // of the color step, and
  TensorFormat format;  // of what it puts out: the view's, or those of a picture for the view's operators on them
};

/// What decoding leaves for the views that share it, until the decoder decodes again: pixels or planes.
struct DecodedImage {
  Rect window;       // of the image as stored
  ImageView pixels;  // those of the window
  Planes planes;     // what interpolation at the window's pixels reads
};

/// Memory that is used again by one view after another.
struct StageScratch {
  Resampler rgb;
  PlanarResampler planar;
  Scratch turned;
  PictureRunner pictures;
  Scratch picture;
};

/// What a stage puts out.
struct StageTensor {
  DType dtype = DType::kU8;
  Shape shape;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
};

class PixelPath;

/// Views that share what is decoded, on their way to a device.
struct SharedHandOver {
  std::span<PixelPath* const> paths;  // all of one kind
  AnyImageDecoder& decoder;
  Rect window;  // covers what they all need
  DeviceBatch::Room& room;
  std::span<DeviceItem> items;  // one for each; they have no slot yet
};

/// The work that begin() was given must stay as it is until the last stage is done.
class PixelPath {
 public:
  virtual ~PixelPath() = default;

  /// Lays out the work.
  virtual void begin(const ImageWork& work) = 0;
  /// The pixels of the image as stored that it needs. Never empty.
  virtual Rect window() const = 0;
  /// What decode() of this window will take of memory, about.
  virtual std::uint64_t decode_memory(Rect window) const = 0;
  /// And of work (codec/decode_work.h).
  virtual std::int64_t decode_work(Rect window) const = 0;
  /// What decode() and geometry() put out,
  virtual StageTensor decoded() const = 0;
  virtual StageTensor resized() const = 0;
  /// and the bytes of what all of these paths need that decode() puts out.
  virtual std::size_t decoded_bytes(std::span<PixelPath* const> paths) const = 0;
  /// A view, as geometry() wants it, of memory for what it puts out.
  virtual MutableImageView resized_view(std::uint8_t* memory) const = 0;

  /// Stage 1, for all paths of this kind whose windows lie in this one.
  virtual DecodedImage decode(AnyImageDecoder& decoder, Rect window) const = 0;
  /// The following stages go on from this.
  virtual void use(const DecodedImage& decoded) = 0;
  /// Stage 2. Resized 8-bit pixels or planes, of the output's size.
  virtual void geometry(MutableImageView out) = 0;
  /// Stage 3, but for the view's operators on pictures: the finished tensor, or the picture that they begin with.
  virtual void color(ImageView resized, std::uint8_t* out) const = 0;
  /// geometry() and color() in one pass: the same bits.
  virtual void transform(std::uint8_t* out) = 0;

  /// The image before decode(), or what that made, for a device to go on with, for all paths at once. It crosses once.
  /// False if there is no room, or no device can.
  virtual bool hand_over_coded(const SharedHandOver&) const { return false; }
  /// The same before decode(), as the whole file for nvJPEG, which finds out itself whether its data are sound.
  virtual bool hand_over_file(const SharedHandOver&) const { return false; }
  virtual bool hand_over_decoded(const SharedHandOver&) const = 0;
  /// How geometry() leaves its output.
  virtual DeviceResized::Kind resized_kind() const = 0;
};

}  // namespace stoker
