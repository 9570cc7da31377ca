#include "cli/json_output.h"

#include "cli/console.h"
#include "stoker/format/json_text.h"

namespace stoker {

std::string json_line(const nlohmann::ordered_json& object) { return with_names(object).dump() + "\n"; }

void write_json(const nlohmann::ordered_json& object) { write_output(with_names(object).dump(2) + "\n"); }

}  // namespace stoker
