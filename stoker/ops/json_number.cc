#include "stoker/ops/json_number.h"

#include <string_view>

#include "stoker/base/error.h"

namespace stoker {

void apply_json_number(const OperatorCall& call, JsonNumber& number) {
  number.key = call.text("key");
  for (std::size_t tilde = number.key.find('~'); number.key.starts_with('/') && tilde != std::string::npos;
       tilde = number.key.find('~', tilde + 1)) {
    const std::string_view rest = std::string_view(number.key).substr(tilde + 1);
    if (!rest.starts_with('0') && !rest.starts_with('1')) {
      fail(ErrorKind::kUsage, "'{}' is not a JSON pointer: write '~' in a name as '~0', and '/' as '~1'", number.key);
    }
  }
  number.dtype = parse_dtype(call.text("dtype"));
}

}  // namespace stoker
