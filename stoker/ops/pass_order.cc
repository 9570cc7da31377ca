#include "stoker/ops/pass_order.h"

namespace stoker {
namespace {

struct Sides {
  std::int64_t across, down;
};

// As docs/pixels.md has it.
bool vertical_first(Sides from, Sides to, PillowOrder pillow) {
  if (to.down >= from.down) return false;
  switch (pillow) {
    case PillowOrder::k9_4: return false;
    case PillowOrder::k12_2: return from.down > 100 * from.across;
    case PillowOrder::k13: return from.down - to.down > 2 * (from.across - to.across);
  }
  return false;
}

}  // namespace

PassOrder pass_order(const SamplingMap& map, PillowOrder pillow) {
  // A single pass has no order.
  if (!map.x.resampled || !map.y.resampled) return PassOrder::kHorizontalFirst;
  const Sides from{map.x.clamp_end - map.x.clamp_begin, map.y.clamp_end - map.y.clamp_begin};
  const Sides to{map.x.target, map.y.target};
  return vertical_first(from, to, pillow) ? PassOrder::kVerticalFirst : PassOrder::kHorizontalFirst;
}

}  // namespace stoker
