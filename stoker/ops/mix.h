// The meaning of the batch family's operators: what they draw for a group of samples that are mixed with each other.
// What a draw does to pixels stands in ops/mix_element.h.
#pragma once

#include <memory>

#include "stoker/base/random.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/mix_element.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

class BatchOperator {
 public:
  virtual ~BatchOperator() = default;

  /// How many samples it mixes with each other: 2 or 4.
  virtual int group() const = 0;
  /// Whether a picture shows a rectangle of each sample, in its own place: boxes can be cut to it.
  virtual bool shows_rectangles() const { return false; }
  /// Draws for pictures of this size.
  virtual MixDraw draw(Random& random, ImageSize size) const = 0;
};

/// The same draw for pictures of another size: its places are moved in proportion.
MixDraw scaled(MixDraw mix, ImageSize from, ImageSize to);

// One maker per operator, for the operator table; the calls have been checked against it.
std::unique_ptr<BatchOperator> make_mixup(const OperatorCall& call);
std::unique_ptr<BatchOperator> make_cutmix(const OperatorCall& call);
std::unique_ptr<BatchOperator> make_mixup_or_cutmix(const OperatorCall& call);
std::unique_ptr<BatchOperator> make_mosaic(const OperatorCall& call);

}  // namespace stoker
