#include "stoker/format/bad_sample.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stoker/format/json_text.h"

namespace stoker {

std::string bad_sample_line(const BadSample& bad) {
  // Not one Json object: to destroy it takes memory, and a sample may be bad while there is none.
  const auto text = [](const std::string& name) { return name_json(name).dump(); };
  return fmt::format("{{\"shard\":{},\"key\":{},\"offset\":{},\"reason\":{}}}\n", text(bad.shard), text(bad.key),
                     bad.offset, text(bad.reason));
}

}  // namespace stoker
