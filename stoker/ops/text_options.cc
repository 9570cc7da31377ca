#include "stoker/ops/text_options.h"

namespace stoker {

void apply_decode_text(const OperatorCall& call, TextOptions& options) {
  apply_decode_bytes(call, options);
  options.is_text = true;
  options.key = call.text("key");
}

void apply_decode_bytes(const OperatorCall& call, TextOptions& options) {
  options.most = call.integer("most");
  options.cuts = call.text("longer") == "cut";
}

}  // namespace stoker
