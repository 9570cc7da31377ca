#include "stoker/ops/one_hot.h"

#include <cassert>
#include <cstring>

#include "stoker/base/error.h"

namespace stoker {

void apply_one_hot(const OperatorCall& call, OneHot& one_hot) {
  const double classes = call.number("classes"), smoothing = call.number("smoothing");
  one_hot.classes = call.integer("classes");
  one_hot.on = static_cast<float>(1 - smoothing + smoothing / classes);
  one_hot.off = static_cast<float>(smoothing / classes);
}

void write_one_hot(std::int64_t number, const OneHot& one_hot, MutableBytes out) {
  if (number == -1) fail(ErrorKind::kUsage, "it has no label that one_hot could take");
  if (number < 0 || number >= one_hot.classes) {
    fail(ErrorKind::kUsage, "its label is {}, but one_hot with classes={} takes labels from 0 to {}", number,
         one_hot.classes, one_hot.classes - 1);
  }
  assert(out.size() == static_cast<std::size_t>(one_hot.classes) * sizeof(float));
  for (std::int64_t i = 0; i < one_hot.classes; ++i) {
    const float value = i == number ? one_hot.on : one_hot.off;
    std::memcpy(out.data() + static_cast<std::size_t>(i) * sizeof(value), &value, sizeof(value));
  }
}

}  // namespace stoker
