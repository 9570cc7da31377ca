// crop, center_crop and random_crop: a window of a fixed size.
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class Crop final : public GeometryOperator {
 public:
  explicit Crop(const OperatorCall& call)
      : x_(call.integer("x")), y_(call.integer("y")), size_{call.integer("width"), call.integer("height")} {}

  void apply(Random&, SamplingMap& map) const override {
    if (x_ + size_.width > map.width() || y_ + size_.height > map.height()) {
      fail(ErrorKind::kBadSample, "crop of {} x {} at ({}, {}) is not inside an image of {} x {}", size_.width,
           size_.height, x_, y_, map.width(), map.height());
    }
    map.x.crop(x_, size_.width);
    map.y.crop(y_, size_.height);
  }

  Padding padding() const override { return Padding::kMayCutOff; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  int x_, y_;
  ImageSize size_;
};

// A smaller image is padded on both sides, as torchvision does.
class CenterCrop final : public GeometryOperator {
 public:
  explicit CenterCrop(const OperatorCall& call) : size_(size_argument(call)), fill_(fill_argument(call)) {}

  void apply(Random&, SamplingMap& map) const override {
    map.crop_or_pad({begin(map.x, size_.width), begin(map.y, size_.height), size_.width, size_.height}, fill_);
  }

  Padding padding() const override { return Padding::kMayCutOff; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  // Halves round to even when cutting, down when padding: torchvision's rules, kept so that results match.
  static int begin(const AxisMap& axis, int length) {
    const int missing = length - axis.length;
    return missing > 0 ? -(missing / 2) : static_cast<int>(std::nearbyint((axis.length - length) / 2.0));
  }

  ImageSize size_;
  std::array<std::uint8_t, 3> fill_;
};

class RandomCrop final : public GeometryOperator {
 public:
  explicit RandomCrop(const OperatorCall& call)
      : size_(size_argument(call)),
        padding_(call.integer("padding")),
        fill_(fill_argument(call)),
        pads_small_(call.flag("pad_if_needed")) {}

  void apply(Random& random, SamplingMap& map) const override {
    const bool fits = missing(map.height(), size_.height) == 0 && missing(map.width(), size_.width) == 0;
    if (!fits && !pads_small_) {
      fail(ErrorKind::kBadSample,
           "random_crop of {} x {} is larger than the image of {} x {} with its padding; resize first, raise padding, "
           "or use pad_if_needed",
           size_.width, size_.height, map.width(), map.height());
    }
    const int y = begin(random, map.height(), size_.height);
    const int x = begin(random, map.width(), size_.width);
    map.crop_or_pad({x, y, size_.width, size_.height}, fill_);
  }

  // Whether its border is seen is a matter of luck, and a run must not be one.
  Padding padding() const override { return padding_ > 0 || pads_small_ ? Padding::kAdds : Padding::kMayCutOff; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  int missing(int side, int wanted) const { return std::max(0, wanted - (side + 2 * padding_)); }

  // As torchvision's: what is missing is added on either side.
  int begin(Random& random, int side, int wanted) const {
    const int border = padding_ + missing(side, wanted), room = side + 2 * border - wanted;
    return static_cast<int>(random.below(static_cast<std::uint64_t>(room) + 1)) - border;
  }

  ImageSize size_;
  int padding_;
  std::array<std::uint8_t, 3> fill_;
  bool pads_small_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_crop(const OperatorCall& call) { return std::make_unique<Crop>(call); }
std::unique_ptr<GeometryOperator> make_center_crop(const OperatorCall& call) {
  return std::make_unique<CenterCrop>(call);
}
std::unique_ptr<GeometryOperator> make_random_crop(const OperatorCall& call) {
  return std::make_unique<RandomCrop>(call);
}

}  // namespace stoker
