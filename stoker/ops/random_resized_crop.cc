// random_resized_crop: a random part of the image, of random area and shape, resized to a fixed size. The distribution
// is torchvision's, rejection of boxes that do not fit included (it lowers the mean area from 0.54 to 0.42 on
// photographs).
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/base/portable_math.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

constexpr int kAttempts = 10;

int rounded(double value) { return static_cast<int>(std::nearbyint(value)); }

class RandomResizedCrop final : public GeometryOperator {
 public:
  explicit RandomResizedCrop(const OperatorCall& call)
      : size_(size_argument(call)),
        area_min_(call.numbers("scale")[0]),
        area_max_(call.numbers("scale")[1]),
        ratio_min_(call.numbers("ratio")[0]),
        ratio_max_(call.numbers("ratio")[1]),
        log_ratio_min_(portable_log(ratio_min_)),
        log_ratio_max_(portable_log(ratio_max_)),
        filter_(parse_filter(call.text("filter"))) {
    if (area_min_ > area_max_ || ratio_min_ > ratio_max_) {
      fail(ErrorKind::kUsage, "scale and ratio must be given as [least, largest]");
    }
  }

  void apply(Random& random, SamplingMap& map) const override {
    const Rect box = draw_box(random, map.width(), map.height());
    map.x.crop(box.x, box.width);
    map.y.crop(box.y, box.height);
    map.resize(size_.width, size_.height, filter_);
  }

  Padding padding() const override { return Padding::kCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  Rect draw_box(Random& random, int width, int height) const {
    const double area = static_cast<double>(width) * height;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const double box_area = area * random.uniform(area_min_, area_max_);
      const double ratio = portable_exp(random.uniform(log_ratio_min_, log_ratio_max_));
      const int w = rounded(std::sqrt(box_area * ratio));
      const int h = rounded(std::sqrt(box_area / ratio));
      if (w < 1 || w > width || h < 1 || h > height) continue;
      const int y = static_cast<int>(random.below(static_cast<std::uint64_t>(height - h) + 1));
      const int x = static_cast<int>(random.below(static_cast<std::uint64_t>(width - w) + 1));
      return {x, y, w, h};
    }
    return central_box(width, height);
  }

  // The largest box in the middle whose shape is permitted.
  Rect central_box(int width, int height) const {
    const double ratio = static_cast<double>(width) / height;
    int w = width, h = height;
    if (ratio < ratio_min_) h = rounded(w / ratio_min_);
    if (ratio > ratio_max_) w = rounded(h * ratio_max_);
    w = std::max(w, 1);
    h = std::max(h, 1);
    return {(width - w) / 2, (height - h) / 2, w, h};
  }

  ImageSize size_;
  double area_min_, area_max_, ratio_min_, ratio_max_, log_ratio_min_, log_ratio_max_;
  Filter filter_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_random_resized_crop(const OperatorCall& call) {
  return std::make_unique<RandomResizedCrop>(call);
}

}  // namespace stoker
