// auto_augment: torchvision's AutoAugment, which applies one of 25 pairs of operators, each with its probability.
#include <algorithm>
#include <array>

#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/torchvision_space.h"

namespace stoker {
namespace {

struct AutoPart {
  PolicyOp op;
  double p;
  int bin;  // of kAutoBins; of operators that have a magnitude
};
using AutoPolicy = std::array<std::array<AutoPart, 2>, 25>;
constexpr int kAutoBins = 10;

// "AutoAugment: Learning Augmentation Policies from Data" (Cubuk et al., 2018), as torchvision publishes them.
struct AutoPolicies {
  using enum PolicyOp;

  static constexpr AutoPolicy kImagenetPolicy = {{
      {{{kPosterize, 0.4, 8}, {kRotate, 0.6, 9}}},  {{{kSolarize, 0.6, 5}, {kAutocontrast, 0.6, 0}}},
      {{{kEqualize, 0.8, 0}, {kEqualize, 0.6, 0}}}, {{{kPosterize, 0.6, 7}, {kPosterize, 0.6, 6}}},
      {{{kEqualize, 0.4, 0}, {kSolarize, 0.2, 4}}}, {{{kEqualize, 0.4, 0}, {kRotate, 0.8, 8}}},
      {{{kSolarize, 0.6, 3}, {kEqualize, 0.6, 0}}}, {{{kPosterize, 0.8, 5}, {kEqualize, 1, 0}}},
      {{{kRotate, 0.2, 3}, {kSolarize, 0.6, 8}}},   {{{kEqualize, 0.6, 0}, {kPosterize, 0.4, 6}}},
      {{{kRotate, 0.8, 8}, {kColor, 0.4, 0}}},      {{{kRotate, 0.4, 9}, {kEqualize, 0.6, 0}}},
      {{{kEqualize, 0, 0}, {kEqualize, 0.8, 0}}},   {{{kInvert, 0.6, 0}, {kEqualize, 1, 0}}},
      {{{kColor, 0.6, 4}, {kContrast, 1, 8}}},      {{{kRotate, 0.8, 8}, {kColor, 1, 2}}},
      {{{kColor, 0.8, 8}, {kSolarize, 0.8, 7}}},    {{{kSharpness, 0.4, 7}, {kInvert, 0.6, 0}}},
      {{{kShearX, 0.6, 5}, {kEqualize, 1, 0}}},     {{{kColor, 0.4, 0}, {kEqualize, 0.6, 0}}},
      {{{kEqualize, 0.4, 0}, {kSolarize, 0.2, 4}}}, {{{kSolarize, 0.6, 5}, {kAutocontrast, 0.6, 0}}},
      {{{kInvert, 0.6, 0}, {kEqualize, 1, 0}}},     {{{kColor, 0.6, 4}, {kContrast, 1, 8}}},
      {{{kEqualize, 0.8, 0}, {kEqualize, 0.6, 0}}},
  }};
  static constexpr AutoPolicy kCifar10Policy = {{
      {{{kInvert, 0.1, 0}, {kContrast, 0.2, 6}}},         {{{kRotate, 0.7, 2}, {kTranslateX, 0.3, 9}}},
      {{{kSharpness, 0.8, 1}, {kSharpness, 0.9, 3}}},     {{{kShearY, 0.5, 8}, {kTranslateY, 0.7, 9}}},
      {{{kAutocontrast, 0.5, 0}, {kEqualize, 0.9, 0}}},   {{{kShearY, 0.2, 7}, {kPosterize, 0.3, 7}}},
      {{{kColor, 0.4, 3}, {kBrightness, 0.6, 7}}},        {{{kSharpness, 0.3, 9}, {kBrightness, 0.7, 9}}},
      {{{kEqualize, 0.6, 0}, {kEqualize, 0.5, 0}}},       {{{kContrast, 0.6, 7}, {kSharpness, 0.6, 5}}},
      {{{kColor, 0.7, 7}, {kTranslateX, 0.5, 8}}},        {{{kEqualize, 0.3, 0}, {kAutocontrast, 0.4, 0}}},
      {{{kTranslateY, 0.4, 3}, {kSharpness, 0.2, 6}}},    {{{kBrightness, 0.9, 6}, {kColor, 0.2, 8}}},
      {{{kSolarize, 0.5, 2}, {kInvert, 0, 0}}},           {{{kEqualize, 0.2, 0}, {kAutocontrast, 0.6, 0}}},
      {{{kEqualize, 0.2, 0}, {kEqualize, 0.6, 0}}},       {{{kColor, 0.9, 9}, {kEqualize, 0.6, 0}}},
      {{{kAutocontrast, 0.8, 0}, {kSolarize, 0.2, 8}}},   {{{kBrightness, 0.1, 3}, {kColor, 0.7, 0}}},
      {{{kSolarize, 0.4, 5}, {kAutocontrast, 0.9, 0}}},   {{{kTranslateY, 0.9, 9}, {kTranslateY, 0.7, 9}}},
      {{{kAutocontrast, 0.9, 0}, {kSolarize, 0.8, 3}}},   {{{kEqualize, 0.8, 0}, {kInvert, 0.1, 0}}},
      {{{kTranslateY, 0.7, 9}, {kAutocontrast, 0.9, 0}}},
  }};
  static constexpr AutoPolicy kSvhnPolicy = {{
      {{{kShearX, 0.9, 4}, {kInvert, 0.2, 0}}},       {{{kShearY, 0.9, 8}, {kInvert, 0.7, 0}}},
      {{{kEqualize, 0.6, 0}, {kSolarize, 0.6, 6}}},   {{{kInvert, 0.9, 0}, {kEqualize, 0.6, 0}}},
      {{{kEqualize, 0.6, 0}, {kRotate, 0.9, 3}}},     {{{kShearX, 0.9, 4}, {kAutocontrast, 0.8, 0}}},
      {{{kShearY, 0.9, 8}, {kInvert, 0.4, 0}}},       {{{kShearY, 0.9, 5}, {kSolarize, 0.2, 6}}},
      {{{kInvert, 0.9, 0}, {kAutocontrast, 0.8, 0}}}, {{{kEqualize, 0.6, 0}, {kRotate, 0.9, 3}}},
      {{{kShearX, 0.9, 4}, {kSolarize, 0.3, 3}}},     {{{kShearY, 0.8, 8}, {kInvert, 0.7, 0}}},
      {{{kEqualize, 0.9, 0}, {kTranslateY, 0.6, 6}}}, {{{kInvert, 0.9, 0}, {kEqualize, 0.6, 0}}},
      {{{kContrast, 0.3, 3}, {kRotate, 0.8, 4}}},     {{{kInvert, 0.8, 0}, {kTranslateY, 0, 2}}},
      {{{kShearY, 0.7, 6}, {kSolarize, 0.4, 8}}},     {{{kInvert, 0.6, 0}, {kRotate, 0.8, 4}}},
      {{{kShearY, 0.3, 7}, {kTranslateX, 0.9, 3}}},   {{{kShearX, 0.1, 6}, {kInvert, 0.6, 0}}},
      {{{kSolarize, 0.7, 2}, {kTranslateY, 0.6, 7}}}, {{{kShearY, 0.8, 4}, {kInvert, 0.8, 0}}},
      {{{kShearX, 0.7, 9}, {kTranslateY, 0.8, 3}}},   {{{kShearY, 0.8, 5}, {kAutocontrast, 0.7, 0}}},
      {{{kShearX, 0.7, 2}, {kInvert, 0.1, 0}}},
  }};
};

const AutoPolicy& auto_policy(std::string_view name) {
  return name == "cifar10" ? AutoPolicies::kCifar10Policy
         : name == "svhn"  ? AutoPolicies::kSvhnPolicy
                           : AutoPolicies::kImagenetPolicy;
}

const TorchvisionChoice& auto_choice(PolicyOp op) {
  const std::span<const TorchvisionChoice> space = auto_augment_space();
  return *std::find_if(space.begin(), space.end(), [op](const TorchvisionChoice& choice) { return choice.op == op; });
}

class AutoAugment final : public PictureOperator {
 public:
  explicit AutoAugment(const OperatorCall& call) : policy_(auto_policy(call.text("policy"))), look_(call) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    for (const AutoPart& part : policy_[random.below(policy_.size())]) {
      if (random.uniform() >= part.p) continue;
      add_action(draw_action(auto_choice(part.op), part.bin, kAutoBins, random, size), size, look_, steps);
    }
  }

  PictureBounds bounds() const override { return bounds_of_actions(2); }

 private:
  const AutoPolicy& policy_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_auto_augment(const OperatorCall& call) {
  return std::make_unique<AutoAugment>(call);
}

}  // namespace stoker
