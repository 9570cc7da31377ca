// Darkens pictures towards their corners, each by another amount: a function of one's own in C++ (docs/functions.md).
#include <stoker_function.h>

#include <cmath>
#include <cstdlib>

namespace {

// The number after "strength": in the recipe's arguments.
double strength_of(const char* arguments) {
  const char* const found = std::strstr(arguments, "\"strength\":");
  return found ? std::strtod(found + std::strlen("\"strength\":"), nullptr) : 0.5;
}

}  // namespace

STOKER_FUNCTION(vignette, call) {
  const auto in = call.taken<std::uint8_t>(0);
  const auto out = call.given<std::uint8_t>(0);
  if (in.rank() != 3 || in.count() != out.count()) throw std::runtime_error("it takes and gives pictures of one size");
  const double strength = call.draws().uniform(0, strength_of(call.arguments()));
  const double middle_y = 0.5 * double(in.extent(0)), middle_x = 0.5 * double(in.extent(1));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < in.extent(0); ++y) {
    for (std::int64_t x = 0; x < in.extent(1); ++x) {
      const double across = (double(x) + 0.5 - middle_x) / middle_x, down = (double(y) + 0.5 - middle_y) / middle_y;
      const double light = 1 - strength * 0.5 * (across * across + down * down);
      for (std::int64_t channel = 0; channel < in.extent(2); ++channel, ++i) {
        out[i] = static_cast<std::uint8_t>(std::lround(light * in[i]));
      }
    }
  }
}
