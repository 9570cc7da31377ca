// pad: a border of one colour around the image.
#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

struct Borders {
  int left, top, right, bottom;
};

// One number for all sides, two for [horizontal, vertical], four for [left, top, right, bottom].
Borders borders_argument(const OperatorCall& call) {
  const std::vector<double>& given = call.numbers("padding");
  const auto side = [&](std::size_t i) { return static_cast<int>(given[i % given.size()]); };
  return {side(0), side(1), side(2), side(3)};
}

class Pad final : public GeometryOperator {
 public:
  explicit Pad(const OperatorCall& call) : borders_(borders_argument(call)), fill_(fill_argument(call)) {}

  void apply(Random&, SamplingMap& map) const override {
    const ImageSize padded = grown({map.width(), map.height()});
    map.crop_or_pad({-borders_.left, -borders_.top, padded.width, padded.height}, fill_);
  }

  Padding padding() const override {
    return borders_.left + borders_.top + borders_.right + borders_.bottom > 0 ? Padding::kAdds : Padding::kKeeps;
  }

  void follow_padding(std::optional<PaddingColor>& color) const override {
    if (padding() == Padding::kKeeps) return;
    if (color && *color != fill_) fail(ErrorKind::kUsage, "{}", kColorsOfPadding);
    color = fill_;
  }

  std::optional<ImageSize> output_size(std::optional<ImageSize> input) const override {
    return input ? std::optional(grown(*input)) : std::nullopt;
  }

 private:
  ImageSize grown(ImageSize image) const {
    return {image.width + borders_.left + borders_.right, image.height + borders_.top + borders_.bottom};
  }

  Borders borders_;
  std::array<std::uint8_t, 3> fill_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_pad(const OperatorCall& call) { return std::make_unique<Pad>(call); }

}  // namespace stoker
