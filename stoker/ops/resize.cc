// resize: to a given size, or so that the short side gets a given length.
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class Resize final : public GeometryOperator {
 public:
  explicit Resize(const OperatorCall& call)
      : size_(size_argument(call)),
        short_side_(call.numbers("size").size() == 1),
        filter_(parse_filter(call.text("filter"))) {}

  void apply(Random&, SamplingMap& map) const override {
    const ImageSize to = short_side_ ? scaled({map.width(), map.height()}) : size_;
    map.resize(to.width, to.height, filter_);
  }

  Padding padding() const override { return Padding::kCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize> input) const override {
    if (!short_side_) return size_;
    return input ? std::optional(scaled(*input)) : std::nullopt;
  }

 private:
  // The long side is rounded down, as torchvision rounds it.
  ImageSize scaled(ImageSize image) const {
    const int target = size_.width;
    const auto stretch = [&](int longer, int shorter) {
      const double length = std::floor(static_cast<double>(target) * longer / shorter);
      if (length > kChainSideMax)
        fail(ErrorKind::kLimit, "resize would make a side of {:.0f} pixels from {} x {}", length, image.width,
             image.height);
      return static_cast<int>(length);
    };
    if (image.width <= image.height) return {target, stretch(image.height, image.width)};
    return {stretch(image.width, image.height), target};
  }

  ImageSize size_;
  bool short_side_;
  Filter filter_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_resize(const OperatorCall& call) { return std::make_unique<Resize>(call); }

}  // namespace stoker
