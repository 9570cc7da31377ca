#include <stoker.h>
#include <stoker_function.h>

const char* consumer_error() { return stoker_error(); }

STOKER_FUNCTION(consumer_noise, call) {
  const stoker_function::Values<const std::uint8_t> in = call.taken<std::uint8_t>(0);
  const stoker_function::Values<std::uint8_t> out = call.given<std::uint8_t>(0);
  stoker_function::Draws draws = call.draws();
  for (std::size_t i = 0; i < in.count(); ++i) out[i] = draws.uniform() < 0.5 ? in[i] : 0;
}
