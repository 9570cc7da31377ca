// What a recipe does across the samples of a batch, compiled: each step mixes groups of samples, images and labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/ops/mix.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

class Recipe;
struct ViewPlan;

/// What shares one draw.
enum class MixMode : std::uint8_t { kPerBatch, kPerGroup, kPerSample };

/// The view of the boxes of images that are mixed, and the views of their labels.
struct MixedBoxes {
  std::size_t boxes = 0;
  std::vector<std::size_t> labels{};
};

struct MixStep {
  std::unique_ptr<const BatchOperator> op;
  std::uint64_t stream = 0;  // names its random numbers
  MixMode mode = MixMode::kPerBatch;
  int distance = 1;  // between the positions of neighbours in a group: of samples that are not repeated
  int group = 2;
  std::vector<std::size_t> images;  // views; it draws for the first of them
  std::vector<MixedBoxes> boxes{};
};

/// A label view of integers, and the view that becomes the partner's.
struct MixedPair {
  std::size_t own, partner;
};

struct MixProgram {
  std::vector<MixStep> steps;
  std::vector<std::size_t> soft;     // views of numbers that are mixed as they are, in each step
  std::vector<MixedPair> pairs;      // those that are not, where there is one step
  std::optional<std::size_t> share;  // the view of what the own label of a pair weighs

  bool empty() const { return steps.empty(); }
  /// Samples that may be mixed with each other by any step: blocks of so many positions.
  int block() const { return empty() ? 1 : steps.back().distance * steps.back().group; }
};

/// Adds the views that the calls ask for. Throws kUsage for calls that do not suit the views, and kLimit for images
/// that are too large.
MixProgram compile_mixing(const std::vector<OperatorCall>& calls, std::vector<ViewPlan>& views);

/// Throws kUsage if functions take or give what the calls ought to mix: samples are mixed where their outputs lie, and
/// what functions take lies elsewhere. `views` are all, those that functions take included.
void check_functions_of_mixing(const std::vector<OperatorCall>& calls, const std::vector<ViewPlan>& views,
                               const Recipe& recipe);

}  // namespace stoker
