// A function of the user's in a shared object, called in the thread that asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/function/library/stoker_function.h"
#include "stoker/function/sample_function.h"

namespace stoker {

class LibraryFunction final : public SampleFunction {
 public:
  /// Throws kUsage for a library or a function that is not there.
  LibraryFunction(const FunctionSpec& spec, std::size_t taken_count);

  void begin() override {}
  MutableBytes take(std::size_t taken, DType dtype, const Shape& shape) override;
  void call(const FunctionSeed& seed, const GivenPlaces& place) override;
  std::int64_t inside_ns() const override { return inside_ns_; }
  void drop_scratch() override { rooms_.assign(rooms_.size(), {}); }

 private:
  const FunctionSpec spec_;
  StokerFunction* function_;
  std::vector<std::vector<std::uint8_t>> rooms_;  // of the values that are taken
  std::vector<StokerValues> taken_, given_;
  std::vector<std::vector<std::uint8_t>> ragged_;  // of those that are given in rows: their number is known afterwards
  std::int64_t inside_ns_ = 0;
};

}  // namespace stoker
