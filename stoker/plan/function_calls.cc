#include "stoker/plan/function_calls.h"

#include <cstring>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// One in Python makes its results itself, so that batches with fewer slots, such as the last one, are rows of the same
// room. One in a library fills what it gets, as large as the batch.
bool makes_results(const FunctionSpec& spec) { return spec.library.empty(); }

// Its values have one more extent, for the slots.
FunctionSpec for_batches(FunctionSpec spec, int slots) {
  for (GivenValue& given : spec.gives) {
    given.shape = given.shape.with_outer(slots);
    given.is_ragged = makes_results(spec);
  }
  return spec;
}

}  // namespace

FunctionCalls::FunctionCalls(const Plan& plan, std::stop_token stop)
    : plan_(plan), stop_(std::move(stop)), opened_for_(plan.functions().size()) {
  takers_.resize(plan.views().size() - plan.output_count());
  for (const FunctionPlan& function : plan.functions()) {
    for (std::size_t value = 0; value < function.takes.size(); ++value) {
      takers_[function.takes[value] - plan.output_count()] = {functions_.size(), value};
    }
    if (function.spec.whole_batch) ++whole_;
    functions_.push_back(function.spec.whole_batch ? nullptr : open_function(function.spec, function.meanings, stop_));
  }
}

void FunctionCalls::begin() {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (!plan_.functions()[i].spec.whole_batch) functions_[i]->begin();
  }
}

MutableBytes FunctionCalls::place(std::size_t view, const Shape& shape, const OutputPlaces& place) {
  if (view < plan_.output_count()) return place(view, shape);
  const Taker& taker = takers_[view - plan_.output_count()];
  if (plan_.functions()[taker.function].spec.whole_batch) return place(view, shape);
  const DType dtype = Plan::output_of(plan_.views()[view], shape).dtype;
  return functions_[taker.function]->take(taker.value, dtype, shape);
}

FunctionSeed FunctionCalls::seed_of(const FunctionPlan& function, const SampleDraw& draw) const {
  Random random(draw.seed, draw.epoch, draw.position, function.stream);
  FunctionSeed seed;
  for (std::uint32_t& word : seed) word = random.next_u32();
  return seed;
}

void FunctionCalls::run(const SampleDraw& draw, const OutputPlaces& place) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const FunctionPlan& function = plan_.functions()[i];
    if (function.spec.whole_batch) continue;
    functions_[i]->call(seed_of(function, draw),
                        [&](std::size_t given, const Shape& shape) { return place(function.gives[given], shape); });
  }
}

void FunctionCalls::run_batch(const WholeBatch& batch) {
  if (batch.slots == 0) return;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (plan_.functions()[i].spec.whole_batch) call_whole(i, batch);
  }
}

void FunctionCalls::call_whole(std::size_t number, const WholeBatch& batch) {
  const FunctionPlan& plan = plan_.functions()[number];
  std::unique_ptr<SampleFunction>& function = functions_[number];
  const int slots = opened_for_[number];
  if (makes_results(plan.spec) ? slots < batch.slots : slots != batch.slots) {
    function = open_function(for_batches(plan.spec, batch.slots), plan.meanings, stop_);
    opened_for_[number] = batch.slots;
  }
  function->begin();
  for (const KeptView& kept : plan_.kept_views()) {
    const Taker& taker = takers_[kept.view - plan_.output_count()];
    if (taker.function != number) continue;
    const Bytes values = batch.kept(kept.view);
    const MutableBytes taken = function->take(taker.value, kept.spec.dtype, kept.spec.shape.with_outer(batch.slots));
    std::memcpy(taken.data(), values.data(), values.size());
  }
  try {
    function->call(seed_of(plan, batch.draw), [&](std::size_t given, const Shape& shape) {
      const GivenValue& value = plan.spec.gives[given];
      if (shape[0] != batch.slots) {
        fail(ErrorKind::kBadSample, "function '{}' gave '{}' of {} samples, but the batch has {}", plan.spec.name,
             value.name, shape[0], batch.slots);
      }
      return MutableBytes(batch.given(plan.gives[given]), static_cast<std::size_t>(batch.slots) * value.bytes());
    });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadSample) throw;
    throw Error(ErrorKind::kData, error.message());
  }
}

std::int64_t FunctionCalls::inside_ns() const {
  std::int64_t ns = 0;
  for (const auto& function : functions_) ns += function ? function->inside_ns() : 0;
  return ns;
}

void FunctionCalls::drop_scratch() {
  for (const auto& function : functions_) {
    if (function) function->drop_scratch();
  }
}

}  // namespace stoker
