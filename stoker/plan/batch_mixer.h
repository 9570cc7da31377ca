// Mixes the samples of a batch: draws what becomes of each, and does it to labels, and to images that are on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// What draws and partners depend on, besides positions.
struct MixOrder {
  std::uint64_t seed = 0;
  std::int64_t global_batch = 1;
  std::int64_t repeats = 1;  // of a sample, at positions that follow each other
};

/// Slots whose samples are mixed with each other, in the order of their positions.
struct MixGroup {
  std::array<int, kMixGroupMax> slots{};
  int size = 0;  // 0: not all of its samples are there
};

/// Where the values of a view begin, side by side; null for one that is mixed elsewhere.
using MixedViews = std::span<std::uint8_t* const>;

/// Threads: any, in different blocks of a batch at once.
class BatchMixer {
 public:
  /// For batches of so many slots. The plan must outlive it. Throws kUsage if they do not divide into blocks.
  BatchMixer(const Plan& plan, const MixOrder& order, int slots);

  /// Slots of a batch without gaps that are mixed with each other and with no others.
  int block() const { return block_; }
  /// How many draws a batch has.
  std::size_t draws() const { return steps().size() * static_cast<std::size_t>(slots_); }

  /// The samples of these slots, whole blocks, are written: their status and positions count. Draws for them and mixes
  /// them. Of a group whose samples are not all valid, all stay as they are.
  void mix(const Batch& batch, int first, int count, std::span<MixDraw> draws, MixedViews views) const noexcept;

  const std::vector<MixStep>& steps() const { return plan_.mixing().steps; }
  /// The group that begins with this slot. Its size is 0 if none does, or none whose samples are all valid.
  MixGroup group_at(const Batch& batch, std::size_t number, int slot) const noexcept;
  /// What a step has drawn for a slot.
  const MixDraw& draw_of(std::span<const MixDraw> draws, std::size_t step, int slot) const {
    return draws[step * static_cast<std::size_t>(slots_) + static_cast<std::size_t>(slot)];
  }
  /// The same for a view of the batch's images.
  MixDraw draw_of(const Batch& batch, std::span<const MixDraw> draws, std::size_t step, int slot,
                  std::size_t view) const;

 private:
  void draw(const Batch& batch, std::size_t number, const MixGroup& group, std::span<MixDraw> draws) const noexcept;
  void mix_group(const Batch& batch, std::size_t step, const MixGroup& group, std::span<const MixDraw> draws,
                 MixedViews views) const noexcept;

  const Plan& plan_;
  const MixOrder order_;
  const int slots_;
  const int stretch_;  // so many times as far apart are partners, as samples are repeated
  const int block_;
};

}  // namespace stoker
