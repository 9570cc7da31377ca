#include "stoker/ops/pad_to.h"

namespace stoker {

void apply_pad_to(const OperatorCall& call, RowPadding& padding) {
  padding.rows = call.integer("count");
  padding.fill = call.number("fill");
  padding.cuts = call.text("longer") == "cut";
}

}  // namespace stoker
