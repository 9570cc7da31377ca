#include "stoker/ops/decode_options.h"

namespace stoker {

void apply_decode(const OperatorCall& call, DecodeOptions& options) {
  options.mode = call.text("mode") == "planar" ? DecodeMode::kPlanar : DecodeMode::kFaithful;
  options.apply_orientation = call.text("orientation") == "apply";
}

}  // namespace stoker
