// The seam for operators that erase parts of the finished tensor, after the colours were computed: what they write is
// exactly 0, or whatever else the recipe says, in units of the tensor.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/erase/erase_step.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/operator_call.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

class EraseOperator {
 public:
  virtual ~EraseOperator() = default;

  /// Draws what is random, and adds the steps of one tensor, or none. Cannot fail.
  virtual void draw(Random& random, ImageSize size, EraseSteps& steps) const = 0;
  virtual int steps_max() const { return 1; }
  /// It writes deviates of the standard normal distribution, which bytes cannot hold.
  virtual bool writes_deviates() const { return false; }
};

/// The operators of one view that erase.
class EraseChain {
 public:
  /// `stream` names the operator's random numbers (random_stream). Throws kUsage for more than kEraseStepsMax steps.
  void append(std::unique_ptr<const EraseOperator> op, std::uint64_t stream);
  /// Throws kUsage if tensors of this type cannot hold what an operator writes.
  void check(DType dtype) const;

  bool empty() const { return operators_.empty(); }
  int steps_max() const { return steps_max_; }
  /// The steps of one sample, instead of what `steps` held. Allocates nothing.
  void draw(ImageSize size, const SampleDraw& sample, EraseSteps& steps) const;

 private:
  struct Operator {
    std::unique_ptr<const EraseOperator> op;
    std::uint64_t stream;
  };
  std::vector<Operator> operators_;
  int steps_max_ = 0;
};

// One maker per operator, for the operator table; the calls have been checked against it.
std::unique_ptr<EraseOperator> make_random_erasing(const OperatorCall& call);
std::unique_ptr<EraseOperator> make_cutout(const OperatorCall& call);
std::unique_ptr<EraseOperator> make_grid_mask(const OperatorCall& call);

/// A `value` argument: one number for all channels, or one each.
std::array<float, 3> erase_value(const OperatorCall& call);

}  // namespace stoker
