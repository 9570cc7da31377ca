// corner_crop: a window of a fixed size in a corner or in the centre, and the operators that make views of several.
#include <cmath>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/several_views.h"

namespace stoker {
namespace {

class CornerCrop final : public GeometryOperator {
 public:
  explicit CornerCrop(const OperatorCall& call) : size_(size_argument(call)), corner_(call.text("corner")) {}

  void apply(Random&, SamplingMap& map) const override {
    const int columns = map.width() - size_.width, rows = map.height() - size_.height;
    if (columns < 0 || rows < 0) {
      fail(ErrorKind::kBadSample, "corner_crop of {} x {} is larger than the image of {} x {}; resize first",
           size_.width, size_.height, map.width(), map.height());
    }
    map.x.crop(begin(columns, "left", "right"), size_.width);
    map.y.crop(begin(rows, "top", "bottom"), size_.height);
  }

  Padding padding() const override { return Padding::kMayCutOff; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  // In the centre halves round to even, as torchvision's do.
  int begin(int room, std::string_view first, std::string_view last) const {
    if (corner_.find(first) != std::string::npos) return 0;
    if (corner_.find(last) != std::string::npos) return room;
    return static_cast<int>(std::nearbyint(room / 2.0));
  }

  ImageSize size_;
  std::string corner_;
};

// In torchvision's order.
constexpr std::string_view kCorners[] = {"top_left", "top_right", "bottom_left", "bottom_right", "center"};

}  // namespace

std::unique_ptr<GeometryOperator> make_corner_crop(const OperatorCall& call) {
  return std::make_unique<CornerCrop>(call);
}

std::vector<OperatorCalls> make_five_crop(const OperatorCall& call) {
  std::vector<OperatorCalls> views;
  for (const std::string_view corner : kCorners) {
    views.push_back({OperatorCall{"corner_crop", {{"size", call.numbers("size")}, {"corner", std::string(corner)}}}});
  }
  return views;
}

std::vector<OperatorCalls> make_ten_crop(const OperatorCall& call) {
  std::vector<OperatorCalls> views = make_five_crop(call);
  for (OperatorCalls& crop : make_five_crop(call)) {
    crop.insert(crop.begin(), OperatorCall{"flip", {{"axis", call.text("axis")}}});
    views.push_back(std::move(crop));
  }
  return views;
}

}  // namespace stoker
