// flip and random_flip: mirrored left to right or top to bottom.
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

class Flip : public GeometryOperator {
 public:
  explicit Flip(const OperatorCall& call) : horizontal_(call.text("axis") == "horizontal") {}

  void apply(Random&, SamplingMap& map) const override { mirror(map); }
  Padding padding() const override { return Padding::kKeeps; }
  std::optional<ImageSize> output_size(std::optional<ImageSize> input) const override { return input; }

 protected:
  void mirror(SamplingMap& map) const { (horizontal_ ? map.x : map.y).mirror(); }

 private:
  bool horizontal_;
};

class RandomFlip final : public Flip {
 public:
  explicit RandomFlip(const OperatorCall& call) : Flip(call), p_(call.number("p")) {}

  void apply(Random& random, SamplingMap& map) const override {
    if (random.uniform() < p_) mirror(map);
  }

 private:
  double p_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_flip(const OperatorCall& call) { return std::make_unique<Flip>(call); }
std::unique_ptr<GeometryOperator> make_random_flip(const OperatorCall& call) {
  return std::make_unique<RandomFlip>(call);
}

}  // namespace stoker
