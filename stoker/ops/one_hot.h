// A class number as a vector of probabilities.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

struct OneHot {
  int classes = 0;           // 0: the number stays a number
  float on = 1.0f, off = 0;  // of the class itself, and of each other one
};

void apply_one_hot(const OperatorCall& call, OneHot& one_hot);

/// Writes `classes` float32 numbers. Throws kUsage for a number that is no class's: the data set is not the one that
/// the recipe was written for.
void write_one_hot(std::int64_t number, const OneHot& one_hot, MutableBytes out);

}  // namespace stoker
