// The functions of a plan, for one executor: gathers what they take of a sample, and calls them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "stoker/function/sample_function.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// Where to write the value of an output, which has this shape. Throws kLimit for one that is too large.
using OutputPlaces = std::function<MutableBytes(std::size_t output, const Shape& shape)>;

/// For one thread. The plan must outlive it.
class FunctionCalls {
 public:
  explicit FunctionCalls(const Plan& plan, std::stop_token stop = {});

  bool empty() const { return functions_.empty(); }
  /// A sample comes.
  void begin();
  /// Where a view's value goes: to the function that takes it, or to where `place` says.
  MutableBytes place(std::size_t view, const Shape& shape, const OutputPlaces& place);
  /// Once the values of all views are there. Throws what SampleFunction::call() does.
  void run(const SampleDraw& draw, const OutputPlaces& place);

  /// Nanoseconds in the functions themselves so far.
  std::int64_t inside_ns() const;
  void drop_scratch();

 private:
  struct Taker {
    std::size_t function, value;
  };

  const Plan& plan_;
  std::vector<std::unique_ptr<SampleFunction>> functions_;
  std::vector<Taker> takers_;  // of the views after the outputs
};

}  // namespace stoker
