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

/// A batch whose slots are all written: what functions of whole batches take, and where they are to give.
struct WholeBatch {
  int slots = 0;
  SampleDraw draw{};                                       // of the first slot
  std::function<Bytes(std::size_t view)> kept;             // the values of all slots, side by side
  std::function<std::uint8_t*(std::size_t output)> given;  // where they go, in the same way
};

/// For one thread. The plan must outlive it.
class FunctionCalls {
 public:
  explicit FunctionCalls(const Plan& plan, std::stop_token stop = {});

  /// No function takes single samples.
  bool empty() const { return plan_.functions().size() == whole_; }
  /// A sample comes.
  void begin();
  /// Where a view's value goes: to the function that takes it, or to where `place` says for an output or a kept view.
  MutableBytes place(std::size_t view, const Shape& shape, const OutputPlaces& place);
  /// Once the values of all views are there. Throws what SampleFunction::call() does.
  void run(const SampleDraw& draw, const OutputPlaces& place);
  /// Those of whole batches. Throws kData in place of kBadSample: no sample is to blame.
  void run_batch(const WholeBatch& batch);

  /// Nanoseconds in the functions themselves so far; never fewer than before.
  std::int64_t inside_ns() const;
  void drop_scratch();

 private:
  struct Taker {
    std::size_t function, value;
  };

  FunctionSeed seed_of(const FunctionPlan& function, const SampleDraw& draw) const;
  /// One of whole batches is there for a batch of so many slots.
  void make_room(std::size_t number, int slots);
  void call_whole(std::size_t number, const WholeBatch& batch);

  const Plan& plan_;
  const std::stop_token stop_;
  std::vector<std::unique_ptr<SampleFunction>> functions_;  // those of whole batches once a batch has come
  std::vector<std::int64_t> rooms_;                         // of those of whole batches: in slots
  std::int64_t replaced_inside_ns_ = 0;                     // in functions that made room for others
  std::size_t whole_ = 0;                                   // of whole batches
  std::vector<Taker> takers_;                               // of the views after the outputs
};

}  // namespace stoker
