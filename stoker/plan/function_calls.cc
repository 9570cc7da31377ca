#include "stoker/plan/function_calls.h"

#include <bit>
#include <cstring>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// One in Python makes its results itself, so that batches with fewer slots, such as the last one, are rows of the same
// room. One in a library fills what it gets, as large as the batch.
bool makes_results(const FunctionSpec& spec) { return spec.library.empty(); }

// Requests of inference come in all sizes, and a larger room means another process: so there is more than is needed.
std::int64_t batch_room(const FunctionSpec& spec, int slots) {
  return makes_results(spec) ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slots))) : slots;
}

// Its values have one more extent, for the slots.
FunctionSpec for_batches(FunctionSpec spec, std::int64_t room) {
  for (GivenValue& given : spec.gives) {
    given.shape = given.shape.with_outer(room);
    given.is_ragged = makes_results(spec);
  }
  return spec;
}

}  // namespace

FunctionCalls::FunctionCalls(const Plan& plan, std::stop_token stop)
    : plan_(plan), stop_(std::move(stop)), rooms_(plan.functions().size()) {
  takers_.resize(plan.views().size() - plan.output_count());
  for (const FunctionPlan& function : plan.functions()) {
    const std::size_t number = functions_.size();
    for (std::size_t value = 0; value < function.takes.size(); ++value) {
      takers_[function.takes[value] - plan.output_count()] = {number, value};
    }
    functions_.push_back(function.spec.whole_batch ? nullptr : open_function(function.spec, function.meanings, stop_));
    if (function.spec.whole_batch) ++whole_;
  }
}

void FunctionCalls::make_room(std::size_t number, int slots) {
  const FunctionPlan& plan = plan_.functions()[number];
  const FunctionSpec& spec = plan.spec;
  std::int64_t& room = rooms_[number];
  if (makes_results(spec) ? room >= slots : room == slots) return;
  const std::int64_t wanted = batch_room(spec, slots);
  std::unique_ptr<SampleFunction> larger = open_function(for_batches(spec, wanted), plan.meanings, stop_);
  if (functions_[number]) replaced_inside_ns_ += functions_[number]->inside_ns();
  functions_[number] = std::move(larger);
  room = wanted;
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
  make_room(number, batch.slots);
  const std::unique_ptr<SampleFunction>& function = functions_[number];
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
  std::int64_t ns = replaced_inside_ns_;
  for (const auto& function : functions_) ns += function ? function->inside_ns() : 0;
  return ns;
}

void FunctionCalls::drop_scratch() {
  for (const auto& function : functions_) {
    if (function) function->drop_scratch();
  }
}

}  // namespace stoker
