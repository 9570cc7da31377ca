// Combinations of operators on pictures: the members that are drawn add their steps one after another.
#include <algorithm>
#include <utility>

#include "stoker/ops/combination.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/picture_operator.h"

namespace stoker {
namespace {

class PictureCombination final : public PictureOperator {
 public:
  explicit PictureCombination(const OperatorCall& call)
      : combination_(std::get<CombinationFunction>(find_operator(call.name).function)(call)) {
    if (combination_.is_of_batch()) {
      fail(ErrorKind::kUsage, "mode='batch' chooses among operators of geometry, such as random_resized_crop");
    }
    for (const OperatorCall& member : call.operators(kCombinedOperators)) {
      members_.push_back(make_picture_operator(member));
    }
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    const Combination::Drawn drawn = combination_.draw(random);
    for (const std::uint8_t member : drawn.members()) {
      Random own = combination_.random_of(random, member);
      members_[member]->draw(own, size, steps);
    }
  }

  // A member's steps use what they share among themselves only.
  PictureBounds bounds() const override {
    PictureBounds most{.steps = 0};
    for (const auto& member : members_) {
      const PictureBounds one = member->bounds();
      const bool alone = combination_.kind() == Combination::Kind::kChoice;
      most.steps = alone ? std::max(most.steps, one.steps) : most.steps + one.steps;
      most.kept = std::max(most.kept, one.kept);
      most.work_of_pixel = std::max(most.work_of_pixel, one.work_of_pixel);
      most.scratch = most.scratch.max(one.scratch);
    }
    return most;
  }

  bool only_warps() const override {
    return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->only_warps(); });
  }

 private:
  Combination combination_;
  std::vector<std::unique_ptr<PictureOperator>> members_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_picture_operator(const OperatorCall& call) {
  const OperatorSpec& spec = find_operator(call.name);
  if (const auto* make = std::get_if<PictureFunction>(&spec.function)) return (*make)(call);
  return std::make_unique<PictureCombination>(call);
}

}  // namespace stoker
