// scale_jitter: the image at a random scale, of which a random part is shown where it is larger than the output; where
// it is smaller, a border follows on the right and below. As torchvision's ScaleJitter and FixedSizeCrop, one after the
// other.
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class ScaleJitter final : public GeometryOperator {
 public:
  explicit ScaleJitter(const OperatorCall& call)
      : size_(size_argument(call)),
        scale_min_(call.numbers("scale")[0]),
        scale_max_(call.numbers("scale")[1]),
        covers_(call.text("fit") == "cover"),
        filter_(parse_filter(call.text("filter"))),
        fill_(fill_argument(call)) {
    if (scale_min_ > scale_max_) fail(ErrorKind::kUsage, "scale must be given as [least, largest]");
  }

  void apply(Random& random, SamplingMap& map) const override {
    // At scale 1 the image is as large as fits into the output, or as small as covers it.
    const auto [inside, covering] =
        std::minmax({static_cast<double>(size_.width) / map.width(), static_cast<double>(size_.height) / map.height()});
    const double scale = (covers_ ? covering : inside) * random.uniform(scale_min_, scale_max_);
    const int width = scaled(map.width(), scale), height = scaled(map.height(), scale);
    const int x = place(random, width - size_.width), y = place(random, height - size_.height);
    map.resize(width, height, filter_);
    map.crop_or_pad({x, y, size_.width, size_.height}, fill_);
  }

  Padding padding() const override { return Padding::kAddsButCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  static int scaled(int length, double scale) {
    const double side = std::floor(length * scale);
    if (side > kChainSideMax) {
      fail(ErrorKind::kLimit, "scale_jitter would make a side of {:.0f} pixels; the limit is {}", side, kChainSideMax);
    }
    return std::max(1, static_cast<int>(side));
  }
  static int place(Random& random, int room) {
    return room > 0 ? static_cast<int>(random.below(static_cast<std::uint64_t>(room) + 1)) : 0;
  }

  ImageSize size_;
  double scale_min_, scale_max_;
  bool covers_;
  Filter filter_;
  std::array<std::uint8_t, 3> fill_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_scale_jitter(const OperatorCall& call) {
  return std::make_unique<ScaleJitter>(call);
}

}  // namespace stoker
