#include "stoker/plan/kept_values.h"

#include <algorithm>
#include <cassert>

#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

std::vector<OutputSpec> specs_of(const Plan& plan) {
  std::vector<OutputSpec> specs;
  for (const KeptView& kept : plan.kept_views()) specs.push_back(kept.spec);
  return specs;
}

}  // namespace

KeptValues::KeptValues(const Plan& plan, int slots)
    : plan_(plan),
      offsets_(batch_offsets(specs_of(plan), slots)),
      memory_(offsets_.back() == 0 ? Memory() : Memory(host_allocator(), offsets_.back())) {}

std::size_t KeptValues::bytes(const Plan& plan, int slots) { return batch_offsets(specs_of(plan), slots).back(); }

std::size_t KeptValues::number_of(std::size_t view) const {
  const std::vector<KeptView>& all = plan_.kept_views();
  const auto found = std::find_if(all.begin(), all.end(), [&](const KeptView& kept) { return kept.view == view; });
  assert(found != all.end());
  return static_cast<std::size_t>(found - all.begin());
}

MutableBytes KeptValues::place(std::size_t view, int slot) const {
  const std::size_t number = number_of(view), each = plan_.kept_views()[number].spec.bytes_per_sample();
  return {memory_.data() + offsets_[number] + static_cast<std::size_t>(slot) * each, each};
}

void KeptValues::pad(int slot) const {
  for (const KeptView& kept : plan_.kept_views()) {
    const MutableBytes value = place(kept.view, slot);
    kept.spec.arrangement->pad(kept.spec, 1, value.data(), 0);
  }
}

Bytes KeptValues::first(std::size_t view, int slots) const {
  const std::size_t number = number_of(view);
  return {memory_.data() + offsets_[number],
          static_cast<std::size_t>(slots) * plan_.kept_views()[number].spec.bytes_per_sample()};
}

}  // namespace stoker
