// An operator that works on some pictures only.
#pragma once

#include <memory>
#include <utility>

#include "stoker/ops/picture/picture_operator.h"

namespace stoker {

class ByChance final : public PictureOperator {
 public:
  ByChance(std::unique_ptr<const PictureOperator> op, double p) : op_(std::move(op)), p_(p) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    if (random.uniform() < p_) op_->draw(random, size, steps);
  }
  PictureBounds bounds() const override { return op_->bounds(); }

 private:
  std::unique_ptr<const PictureOperator> op_;
  double p_;
};

/// With the call's argument `p`.
inline std::unique_ptr<PictureOperator> by_chance(const OperatorCall& call, std::unique_ptr<const PictureOperator> op) {
  return std::make_unique<ByChance>(std::move(op), call.number("p"));
}

}  // namespace stoker
