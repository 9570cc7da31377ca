#include "stoker/base/isa.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct NamedTarget {
  const char* name;
  std::int64_t target;
};
// Best first. Scalar stands for Highway's emulated 128-bit vectors: plain C++, always there.
constexpr NamedTarget kTargets[] = {{"avx3_dl", HWY_AVX3_DL}, {"avx3", HWY_AVX3}, {"avx2", HWY_AVX2},
                                    {"sse4", HWY_SSE4},       {"neon", HWY_NEON}, {"scalar", HWY_EMU128}};

std::int64_t machine_targets() {
  static const std::int64_t targets = hwy::SupportedTargets() | HWY_EMU128;
  return targets;
}

std::atomic<bool> selected = false;

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const NamedTarget& known : kTargets) {
    if (machine_targets() & known.target) names.emplace_back(known.name);
  }
  return names;
}

void select_isa(std::string_view name) {
  if (name.empty()) {
    const char* forced = std::getenv("STOKER_ISA");
    name = forced ? forced : "";
  }
  const std::string available = fmt::format("{}", fmt::join(available_isas(), ", "));
  std::int64_t wanted = 0;
  for (const NamedTarget& known : kTargets) {
    if (name == known.name || (name.empty() && wanted == 0 && (machine_targets() & known.target)))
      wanted = known.target;
  }
  if (wanted == 0) fail(ErrorKind::kUsage, "'{}' is not an instruction set; this machine has {}", name, available);
  if (!(machine_targets() & wanted)) {
    fail(ErrorKind::kUsage, "this machine does not have the instruction set '{}'; it has {}", name, available);
  }
  // Kernels that are not compiled for the requested set run on the best lesser one for which they are compiled.
  const std::int64_t usable = machine_targets() & ~(wanted - 1);
  hwy::SetSupportedTargetsForTest(usable);
  hwy::GetChosenTarget().Update(usable);
  selected.store(true, std::memory_order_release);
}

void ensure_isa() {
  if (selected.load(std::memory_order_acquire)) return;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (!selected.load(std::memory_order_acquire)) select_isa("");
}

std::string active_isa() {
  ensure_isa();
  const std::int64_t chosen = hwy::SupportedTargets();
  for (const NamedTarget& known : kTargets) {
    if (chosen & known.target) return known.name;
  }
  return "scalar";
}

}  // namespace stoker
