#include "stoker/doctor/model/prediction.h"

#include <array>
#include <cstddef>

namespace stoker {

std::string_view name_of(Limiter limiter) {
  constexpr std::array<std::string_view, 8> kNames = {
      "cpu decode", "cpu transform", "storage bandwidth", "storage requests", "network", "copy", "memory", "step"};
  return kNames[static_cast<std::size_t>(limiter)];
}

}  // namespace stoker
