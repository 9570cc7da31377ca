// The bad samples that a loader has met: told, counted, listed, and too many of them an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "stoker/runtime/board/ticket.h"
#include "stoker/runtime/engine/engine_core.h"
#include "stoker/runtime/loader.h"

namespace stoker {

/// The consumer's thread only.
class BadSampleAccount {
 public:
  /// Of a loader whose epochs have `slots` slots.
  BadSampleAccount(EngineCore& core, std::int64_t slots);

  void begin_epoch(std::int64_t epoch);
  /// Tells of those that a batch met. Throws kBadSample when an epoch has met more than may be accidents.
  void add(std::span<const BadSlot> slots);

  /// Different ones in this epoch.
  std::size_t in_epoch() const { return epoch_bad_.size(); }
  std::vector<BadSample> all() const;
  /// Those that add() was told of last.
  const std::vector<MetBadSample>& in_batch() const { return in_batch_; }

 private:
  EngineCore& core_;
  const std::int64_t most_;
  std::int64_t epoch_ = -1;
  std::map<std::int64_t, BadSample> met_;
  std::set<std::int64_t> epoch_bad_;  // few, for many are an error
  std::vector<MetBadSample> in_batch_;
};

}  // namespace stoker
