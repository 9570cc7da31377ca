#include "stoker/ops/tensor_format.h"

namespace stoker {

void apply_cast(const OperatorCall& call, FormatChoice& choice) { choice.dtype = parse_dtype(call.text("dtype")); }
void apply_layout(const OperatorCall& call, FormatChoice& choice) { choice.layout = parse_layout(call.text("layout")); }

}  // namespace stoker
