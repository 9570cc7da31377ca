// The position of training, as short JSON: the next batch, and the identity of the run. Equal on every rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/order/order_options.h"
#include "stoker/runtime/loader.h"

namespace stoker {

/// Everything that decides which sample comes at each position, and its processing: a position means nothing without
/// it. The policy for bad samples is not part of it: a run that stopped at one can resume with another policy.
struct LoaderIdentity {
  std::uint64_t data = 0;    // Dataset::fingerprint()
  std::int64_t samples = 0;  // for messages
  std::uint64_t recipe = 0;  // of Recipe::to_toml()
  OrderOptions order;
  int semantics = 0;
  bool nvjpeg = false;       // whose pixels are not those of Stoker's decoders
  std::string own_random{};  // the functions that no seed can repeat, by name, separated by commas
};

/// The position of any loader's state. Throws kUsage for text that is not a state.
LoaderPosition position_of_state(std::string_view json);

/// Writes and reads positions of one loader. Threads: any.
class LoaderState {
 public:
  explicit LoaderState(const LoaderIdentity& identity);

  std::string to_json(const LoaderPosition& position) const;
  /// Throws kUsage for text that is not a state, or for another loader's state, naming the differences.
  LoaderPosition parse(std::string_view json) const;

 private:
  std::string head_;  // all of the JSON before the position
};

}  // namespace stoker
