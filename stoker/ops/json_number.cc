#include "stoker/ops/json_number.h"

#include <string_view>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

void apply_json_number(const OperatorCall& call, FieldNumber& into) {
  JsonNumber number{.key = call.text("key"), .dtype = parse_dtype(call.text("dtype"))};
  for (std::size_t tilde = number.key.find('~'); number.key.starts_with('/') && tilde != std::string::npos;
       tilde = number.key.find('~', tilde + 1)) {
    const std::string_view rest = std::string_view(number.key).substr(tilde + 1);
    if (!rest.starts_with('0') && !rest.starts_with('1')) {
      fail(ErrorKind::kUsage, "'{}' is not a JSON pointer: write '~' in a name as '~0', and '/' as '~1'", number.key);
    }
  }
  into = std::move(number);
}

void apply_digest(const OperatorCall& /*call*/, FieldNumber& into) { into = FieldDigest{}; }

}  // namespace stoker
