#include "stoker/ops/decode_options.h"

#include "stoker/base/error.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<PillowOrder> kFaithful[] = {
    {PillowOrder::k9_4, "faithful"}, {PillowOrder::k12_2, "faithful:12.2"}, {PillowOrder::k13, "faithful:13"}};

}  // namespace

void apply_decode(const OperatorCall& call, DecodeOptions& options) {
  const std::string& mode = call.text("mode");
  options.mode = mode == "planar" ? DecodeMode::kPlanar : DecodeMode::kFaithful;
  if (options.mode == DecodeMode::kFaithful) options.pillow = value_of(kFaithful, mode, "not a decoding mode");
  options.apply_orientation = call.text("orientation") == "apply";
  options.scaled = call.text("scale") == "auto";
  if (options.scaled && options.mode != DecodeMode::kPlanar) {
    fail(ErrorKind::kUsage, "scale = 'auto' is for mode = 'planar', and mode is '{}'", mode);
  }
}

}  // namespace stoker
