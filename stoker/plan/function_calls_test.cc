#include "stoker/plan/function_calls.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "stoker/plan/plan.h"
#include "stoker/plan/recipe.h"

namespace stoker {
namespace {

constexpr std::int64_t kCallNs = 1000;

/// Gives twice what it takes.
class Doubling final : public SampleFunction {
 public:
  void begin() override {}
  MutableBytes take(std::size_t, DType, const Shape& shape) override {
    numbers_.resize(static_cast<std::size_t>(shape.elements()));
    return {reinterpret_cast<std::uint8_t*>(numbers_.data()), numbers_.size() * sizeof(std::int64_t)};
  }
  void call(const FunctionSeed&, const GivenPlaces& place) override {
    for (std::int64_t& number : numbers_) number *= 2;
    const MutableBytes out = place(0, {std::ssize(numbers_)});
    std::memcpy(out.data(), numbers_.data(), out.size());
    inside_ns_ += kCallNs;
  }
  std::int64_t inside_ns() const override { return inside_ns_; }

 private:
  std::vector<std::int64_t> numbers_;
  std::int64_t inside_ns_ = 0;
};

/// Opens functions for threads; how many it has.
struct Opener {
  Opener() {
    set_thread_functions([this](const FunctionSpec&, const std::vector<ValueMeaning>&) {
      ++opened;
      return std::make_unique<Doubling>();
    });
  }
  ~Opener() { set_thread_functions({}); }
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;

  int opened = 0;
};

/// With a function of whole batches that takes a number and gives one.
Plan doubling_plan() {
  Recipe recipe = Recipe().decode().resize(2, 2);
  recipe.view("number", "label");
  recipe.map({.name = "doubling",
              .python = "module:doubling",
              .whole_batch = true,
              .home = FunctionHome::kThread,
              .takes = {{"number"}},
              .gives = {{"twice", DType::kI64}}});
  return Plan(recipe);
}

/// Calls it for a batch of so many numbers.
void check_call(FunctionCalls& calls, int slots) {
  std::vector<std::int64_t> numbers, twice(static_cast<std::size_t>(slots), -1), want;
  for (int slot = 0; slot < slots; ++slot) {
    numbers.push_back(10 * slots + slot);
    want.push_back(2 * numbers.back());
  }
  const Bytes taken(reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
  calls.run_batch({.slots = slots,
                   .kept = [&](std::size_t) { return taken; },
                   .given = [&](std::size_t) { return reinterpret_cast<std::uint8_t*>(twice.data()); }});
  EXPECT_EQ(twice, want);
}

TEST(FunctionCalls, OpenAFunctionOfBatchesSeldomForRequestsOfAllSizes) {
  const Opener opener;
  const Plan plan = doubling_plan();
  FunctionCalls calls(plan);
  for (int slots = 1; slots <= 16; ++slots) check_call(calls, slots);
  for (int slots = 16; slots >= 1; --slots) check_call(calls, slots);
  EXPECT_EQ(opener.opened, 5) << "for 1, 2, 4, 8 and 16";
}

TEST(FunctionCalls, CountTheTimeInFunctionsThatMadeRoomForOthers) {
  const Opener opener;
  const Plan plan = doubling_plan();
  FunctionCalls calls(plan);
  EXPECT_EQ(calls.inside_ns(), 0);
  std::int64_t count = 0;
  for (const int slots : {3, 5, 3, 20, 20, 100}) {
    check_call(calls, slots);
    EXPECT_EQ(calls.inside_ns(), ++count * kCallNs);
  }
  EXPECT_GT(opener.opened, 1);
}

}  // namespace
}  // namespace stoker
