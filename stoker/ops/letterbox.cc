// letterbox: the whole image, as large as fits into the output, amid one colour. As YOLO's evaluation shows images.
#include <algorithm>
#include <cmath>

#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class Letterbox final : public GeometryOperator {
 public:
  explicit Letterbox(const OperatorCall& call)
      : size_(size_argument(call)),
        centred_(call.text("place") == "center"),
        enlarges_(call.flag("enlarge")),
        filter_(parse_filter(call.text("filter"))),
        fill_(fill_argument(call)) {}

  void apply(Random&, SamplingMap& map) const override {
    double scale =
        std::min(static_cast<double>(size_.width) / map.width(), static_cast<double>(size_.height) / map.height());
    if (!enlarges_) scale = std::min(scale, 1.0);
    const int width = scaled(map.width(), scale, size_.width), height = scaled(map.height(), scale, size_.height);
    const int x = centred_ ? (size_.width - width) / 2 : 0, y = centred_ ? (size_.height - height) / 2 : 0;
    map.resize(width, height, filter_);
    map.crop_or_pad({-x, -y, size_.width, size_.height}, fill_);
  }

  Padding padding() const override { return Padding::kAddsButCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  static int scaled(int length, double scale, int most) {
    return std::clamp(static_cast<int>(std::nearbyint(length * scale)), 1, most);
  }

  ImageSize size_;
  bool centred_, enlarges_;
  Filter filter_;
  std::array<std::uint8_t, 3> fill_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_letterbox(const OperatorCall& call) { return std::make_unique<Letterbox>(call); }

}  // namespace stoker
