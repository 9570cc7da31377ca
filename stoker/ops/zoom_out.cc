// zoom_out: the whole image, resized to a random part of the output and put in a random place of it, amid one colour.
// That is to put it on a larger canvas and to resize this, as detectors of small objects are trained (SSD).
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class ZoomOut final : public GeometryOperator {
 public:
  explicit ZoomOut(const OperatorCall& call)
      : size_(size_argument(call)),
        side_min_(call.numbers("side_range")[0]),
        side_max_(call.numbers("side_range")[1]),
        p_(call.number("p")),
        filter_(parse_filter(call.text("filter"))),
        fill_(fill_argument(call)) {
    if (side_min_ > side_max_) fail(ErrorKind::kUsage, "side_range must be given as [least, largest]");
  }

  void apply(Random& random, SamplingMap& map) const override {
    if (!(random.uniform() < p_)) return map.resize(size_.width, size_.height, filter_);
    const double side = random.uniform(side_min_, side_max_);
    const int width = part(size_.width, side), height = part(size_.height, side);
    const int x = place(random, size_.width - width), y = place(random, size_.height - height);
    map.resize(width, height, filter_);
    map.crop_or_pad({-x, -y, size_.width, size_.height}, fill_);
  }

  Padding padding() const override { return Padding::kAddsButCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  static int part(int length, double side) { return std::max(1, static_cast<int>(std::nearbyint(length / side))); }
  static int place(Random& random, int room) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(room) + 1));
  }

  ImageSize size_;
  double side_min_, side_max_, p_;
  Filter filter_;
  std::array<std::uint8_t, 3> fill_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_zoom_out(const OperatorCall& call) { return std::make_unique<ZoomOut>(call); }

}  // namespace stoker
