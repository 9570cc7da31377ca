#include "stoker/format/bad_sample.h"

#include <nlohmann/json.hpp>

namespace stoker {

nlohmann::ordered_json bad_sample_json(const BadSample& bad) {
  return {{"shard", bad.shard}, {"key", bad.key}, {"offset", bad.offset}, {"reason", bad.reason}};
}

}  // namespace stoker
