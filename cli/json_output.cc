#include "cli/json_output.h"

#include "cli/console.h"

namespace stoker {

void write_json(const nlohmann::ordered_json& object) {
  write_output(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace stoker
