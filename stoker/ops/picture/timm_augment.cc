// timm_augment: the policies that timm names by a text, with its distributions of operators and magnitudes.
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "stoker/base/distributions.h"
#include "stoker/base/error.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/picture_mixture.h"
#include "stoker/ops/picture/timm_action.h"
#include "stoker/ops/picture/timm_spec.h"

namespace stoker {
namespace {

struct TimmPart {
  TimmOp op;
  double p;
  int magnitude;
};
using TimmPolicy = std::array<std::array<TimmPart, 2>, 25>;

struct WeightedTimmOp {
  TimmOp op;
  double weight;
};

struct TimmTables {
  using enum TimmOp;

  static constexpr TimmPolicy kTimmV0 = {{
      {{{kEqualize, 0.8, 1}, {kShearY, 0.8, 4}}},
      {{{kColor, 0.4, 9}, {kEqualize, 0.6, 3}}},
      {{{kColor, 0.4, 1}, {kRotate, 0.6, 8}}},
      {{{kSolarize, 0.8, 3}, {kEqualize, 0.4, 7}}},
      {{{kSolarize, 0.4, 2}, {kSolarize, 0.6, 2}}},
      {{{kColor, 0.2, 0}, {kEqualize, 0.8, 8}}},
      {{{kEqualize, 0.4, 8}, {kSolarizeAdd, 0.8, 3}}},
      {{{kShearX, 0.2, 9}, {kRotate, 0.6, 8}}},
      {{{kColor, 0.6, 1}, {kEqualize, 1, 2}}},
      {{{kInvert, 0.4, 9}, {kRotate, 0.6, 0}}},
      {{{kEqualize, 1, 9}, {kShearY, 0.6, 3}}},
      {{{kColor, 0.4, 7}, {kEqualize, 0.6, 0}}},
      {{{kPosterize, 0.4, 6}, {kAutoContrast, 0.4, 7}}},
      {{{kSolarize, 0.6, 8}, {kColor, 0.6, 9}}},
      {{{kSolarize, 0.2, 4}, {kRotate, 0.8, 9}}},
      {{{kRotate, 1, 7}, {kTranslateYRel, 0.8, 9}}},
      {{{kShearX, 0, 0}, {kSolarize, 0.8, 4}}},
      {{{kShearY, 0.8, 0}, {kColor, 0.6, 4}}},
      {{{kColor, 1, 0}, {kRotate, 0.6, 2}}},
      {{{kEqualize, 0.8, 4}, {kEqualize, 0, 8}}},
      {{{kEqualize, 1, 4}, {kAutoContrast, 0.6, 2}}},
      {{{kShearY, 0.4, 7}, {kSolarizeAdd, 0.6, 7}}},
      {{{kPosterize, 0.8, 2}, {kSolarize, 0.6, 10}}},
      {{{kSolarize, 0.6, 8}, {kEqualize, 0.6, 1}}},
      {{{kColor, 0.8, 6}, {kRotate, 0.4, 5}}},
  }};

  static constexpr TimmPolicy kTimmOriginal = {{
      {{{kPosterizeOriginal, 0.4, 8}, {kRotate, 0.6, 9}}},
      {{{kSolarize, 0.6, 5}, {kAutoContrast, 0.6, 5}}},
      {{{kEqualize, 0.8, 8}, {kEqualize, 0.6, 3}}},
      {{{kPosterizeOriginal, 0.6, 7}, {kPosterizeOriginal, 0.6, 6}}},
      {{{kEqualize, 0.4, 7}, {kSolarize, 0.2, 4}}},
      {{{kEqualize, 0.4, 4}, {kRotate, 0.8, 8}}},
      {{{kSolarize, 0.6, 3}, {kEqualize, 0.6, 7}}},
      {{{kPosterizeOriginal, 0.8, 5}, {kEqualize, 1, 2}}},
      {{{kRotate, 0.2, 3}, {kSolarize, 0.6, 8}}},
      {{{kEqualize, 0.6, 8}, {kPosterizeOriginal, 0.4, 6}}},
      {{{kRotate, 0.8, 8}, {kColor, 0.4, 0}}},
      {{{kRotate, 0.4, 9}, {kEqualize, 0.6, 2}}},
      {{{kEqualize, 0, 7}, {kEqualize, 0.8, 8}}},
      {{{kInvert, 0.6, 4}, {kEqualize, 1, 8}}},
      {{{kColor, 0.6, 4}, {kContrast, 1, 8}}},
      {{{kRotate, 0.8, 8}, {kColor, 1, 2}}},
      {{{kColor, 0.8, 8}, {kSolarize, 0.8, 7}}},
      {{{kSharpness, 0.4, 7}, {kInvert, 0.6, 8}}},
      {{{kShearX, 0.6, 5}, {kEqualize, 1, 9}}},
      {{{kColor, 0.4, 0}, {kEqualize, 0.6, 3}}},
      {{{kEqualize, 0.4, 7}, {kSolarize, 0.2, 4}}},
      {{{kSolarize, 0.6, 5}, {kAutoContrast, 0.6, 5}}},
      {{{kInvert, 0.6, 4}, {kEqualize, 1, 8}}},
      {{{kColor, 0.6, 4}, {kContrast, 1, 8}}},
      {{{kEqualize, 0.8, 8}, {kEqualize, 0.6, 3}}},
  }};

  // One of these instead of a pair.
  static constexpr std::array<TimmPart, 3> kTimm3a = {
      {{kSolarize, 1, 5}, {kDesaturate, 1, 10}, {kGaussianBlurRand, 1, 10}}};

  static constexpr std::array kTimmRand = {kAutoContrast, kEqualize,    kInvert, kRotate,        kPosterize,
                                           kSolarize,     kSolarizeAdd, kColor,  kContrast,      kBrightness,
                                           kSharpness,    kShearX,      kShearY, kTranslateXRel, kTranslateYRel};
  static constexpr std::array kTimmRandIncreasing = {kAutoContrast,
                                                     kEqualize,
                                                     kInvert,
                                                     kRotate,
                                                     kPosterizeIncreasing,
                                                     kSolarizeIncreasing,
                                                     kSolarizeAdd,
                                                     kColorIncreasing,
                                                     kContrastIncreasing,
                                                     kBrightnessIncreasing,
                                                     kSharpnessIncreasing,
                                                     kShearX,
                                                     kShearY,
                                                     kTranslateXRel,
                                                     kTranslateYRel};
  static constexpr std::array kTimmRand3a = {kSolarizeIncreasing, kDesaturate, kGaussianBlur};
  static constexpr std::array kTimmMix = {
      kAutoContrast, kColorIncreasing, kContrastIncreasing,  kBrightnessIncreasing, kSharpnessIncreasing,
      kEqualize,     kRotate,          kPosterizeIncreasing, kSolarizeIncreasing,   kShearX,
      kShearY,       kTranslateXRel,   kTranslateYRel};

  static constexpr WeightedTimmOp kTimmRand3aw[] = {{kSolarizeIncreasing, 6},
                                                    {kDesaturate, 6},
                                                    {kGaussianBlur, 6},
                                                    {kRotate, 3},
                                                    {kShearX, 2},
                                                    {kShearY, 2},
                                                    {kPosterizeIncreasing, 1},
                                                    {kAutoContrast, 1},
                                                    {kColorIncreasing, 1},
                                                    {kSharpnessIncreasing, 1},
                                                    {kContrastIncreasing, 1},
                                                    {kBrightnessIncreasing, 1},
                                                    {kEqualize, 1},
                                                    {kInvert, 1}};
  static constexpr WeightedTimmOp kTimmRandWeights[] = {{kRotate, 3},
                                                        {kShearX, 2},
                                                        {kShearY, 2},
                                                        {kTranslateXRel, 1},
                                                        {kTranslateYRel, 1},
                                                        {kColorIncreasing, 0.25},
                                                        {kSharpnessIncreasing, 0.25},
                                                        {kAutoContrast, 0.25},
                                                        {kSolarizeIncreasing, 0.05},
                                                        {kSolarizeAdd, 0.05},
                                                        {kContrastIncreasing, 0.05},
                                                        {kBrightnessIncreasing, 0.05},
                                                        {kEqualize, 0.05},
                                                        {kPosterizeIncreasing, 0.05},
                                                        {kInvert, 0.05}};
};

constexpr int kBlurSteps = 2;  // the most of one action

class TimmOperator : public PictureOperator {
 protected:
  TimmOperator(const TimmSpec& spec, const WarpLook& look)
      : levels_{.magnitude_std = spec.magnitude_std, .magnitude_max = spec.magnitude_max}, look_(look) {}

  void add(TimmOp op, double magnitude, Random& random, ImageSize size, PictureSteps& steps) const {
    add_action(levels_.draw(op, magnitude, random, size), size, look_, steps);
  }

  TimmLevels levels_;

 private:
  WarpLook look_;
};

class TimmRandAugment final : public TimmOperator {
 public:
  TimmRandAugment(const TimmSpec& spec, const WarpLook& look)
      : TimmOperator(spec, look), magnitude_(spec.magnitude), layers_(spec.layers), p_(spec.p) {
    if (spec.name == "weights" || spec.name == "3aw") {
      const std::span<const WeightedTimmOp> weighted =
          spec.name == "3aw" ? std::span<const WeightedTimmOp>(TimmTables::kTimmRand3aw) : TimmTables::kTimmRandWeights;
      for (const auto& [op, weight] : weighted) {
        ops_.push_back(op);
        weights_[ops_.size() - 1] = weight;
      }
      if (layers_ > static_cast<int>(ops_.size())) {
        fail(ErrorKind::kUsage, "n is {}, but the set '{}' has {} operators, each drawn once at most", layers_,
             spec.name, ops_.size());
      }
      weighted_ = true;
      return;
    }
    const std::span<const TimmOp> ops = spec.name == "3a" ? std::span<const TimmOp>(TimmTables::kTimmRand3a)
                                        : spec.increasing ? std::span<const TimmOp>(TimmTables::kTimmRandIncreasing)
                                                          : std::span<const TimmOp>(TimmTables::kTimmRand);
    ops_.assign(ops.begin(), ops.end());
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    std::array<double, TimmTables::kTimmRandIncreasing.size()> left = weights_;
    for (int i = 0; i < layers_; ++i) {
      const std::size_t place = weighted_ ? draw_place(random, {left.data(), ops_.size()}) : random.below(ops_.size());
      left[place] = 0;  // without replacement where operators have weights
      if (p_ < 1 && random.uniform() >= p_) continue;
      add(ops_[place], magnitude_, random, size, steps);
    }
  }

  PictureBounds bounds() const override { return bounds_of_actions(layers_, kBlurSteps); }

 private:
  double magnitude_;
  int layers_;
  double p_;
  std::vector<TimmOp> ops_;
  std::array<double, TimmTables::kTimmRandIncreasing.size()> weights_{};
  bool weighted_ = false;
};

class TimmAutoAugment final : public TimmOperator {
 public:
  TimmAutoAugment(const TimmSpec& spec, const WarpLook& look) : TimmOperator(spec, look) {
    if (spec.name == "3a") {
      for (const TimmPart& part : TimmTables::kTimm3a) policy_.push_back({part});
      return;
    }
    const bool original = spec.name.starts_with("original"), research = spec.name.ends_with('r');
    for (const auto& [first, second] : original ? TimmTables::kTimmOriginal : TimmTables::kTimmV0) {
      policy_.push_back({first, second});
      for (TimmPart& part : policy_.back()) {
        const bool posterizes = part.op == TimmOp::kPosterize || part.op == TimmOp::kPosterizeOriginal;
        if (research && posterizes) part.op = TimmOp::kPosterizeIncreasing;
      }
    }
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    for (const auto& [op, p, magnitude] : policy_[random.below(policy_.size())]) {
      if (p < 1 && random.uniform() >= p) continue;
      add(op, magnitude, random, size, steps);
    }
  }

  PictureBounds bounds() const override { return bounds_of_actions(2, kBlurSteps); }

 private:
  std::vector<std::vector<TimmPart>> policy_;
};

class TimmAugMix final : public TimmOperator {
 public:
  TimmAugMix(const TimmSpec& spec, const WarpLook& look)
      : TimmOperator(spec, look),
        magnitude_(spec.magnitude),
        width_(spec.width),
        depth_(spec.depth),
        alpha_(spec.alpha),
        blended_(spec.blended) {
    levels_.translate_part = 0.3;  // as timm sets it where it makes this policy
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    std::array<double, kMixtureMax> all;
    const std::span<double> weights(all.data(), static_cast<std::size_t>(width_));
    draw_dirichlet(random, alpha_, weights);
    const double part = draw_beta(random, alpha_, alpha_);
    PictureMixture mixture(steps);
    if (!blended_) {
      for (int chain = 0; chain < width_; ++chain) {
        mixture.begin_chain();
        add_chain(random, size, steps);
      }
      return mixture.end_towards(part, weights);
    }
    // The blend after each chain leaves room for those to come: all have their weights in the end.
    double rest = 1;
    for (std::size_t i = weights.size(); i-- > 0;) {
      weights[i] = rest > 0 ? std::min(weights[i] * part / rest, 1.0) : 0;
      rest *= 1 - weights[i];
    }
    for (const double weight : weights) {
      mixture.begin_blended_chain();
      add_chain(random, size, steps);
      mixture.end_blended_chain(weight);
    }
  }

  PictureBounds bounds() const override { return PictureMixture::bounds(width_, depth_ > 0 ? depth_ : kTimmDepthMax); }

 private:
  static constexpr int kTimmDepthMax = 3;  // of those that are drawn

  void add_chain(Random& random, ImageSize size, PictureSteps& steps) const {
    const int depth = depth_ > 0 ? depth_ : 1 + static_cast<int>(random.below(kTimmDepthMax));
    for (int i = 0; i < depth; ++i)
      add(TimmTables::kTimmMix[random.below(TimmTables::kTimmMix.size())], magnitude_, random, size, steps);
  }

  double magnitude_;
  int width_, depth_;
  double alpha_;
  bool blended_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_timm_augment(const OperatorCall& call) {
  const TimmSpec spec = TimmSpec::parse(call.text("spec"));
  const WarpLook look(call);
  switch (spec.policy) {
    case TimmSpec::Policy::kRand: return std::make_unique<TimmRandAugment>(spec, look);
    case TimmSpec::Policy::kAugMix: return std::make_unique<TimmAugMix>(spec, look);
    case TimmSpec::Policy::kAuto: break;
  }
  return std::make_unique<TimmAutoAugment>(spec, look);
}

}  // namespace stoker
