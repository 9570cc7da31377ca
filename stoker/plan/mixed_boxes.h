// The boxes of samples whose pictures come together, each seen in a rectangle of its own: they are cut to it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/ops/mix_element.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class MixedBoxesStage {
 public:
  /// Of samples that are mixed with each other, in `slots`: `mixes` says for each of them what it shows, in pixels of
  /// the boxes' image, of this size. `memory` has where each output begins, before it is sealed.
  void mix(const Plan& plan, const MixedBoxes& which, const Batch& batch, std::span<const int> slots,
           std::span<const MixDraw> mixes, ImageSize size, std::span<std::uint8_t* const> memory);

 private:
  struct Source {
    std::vector<float> boxes;
    std::vector<std::vector<std::uint8_t>> labels;  // of each view of labels
  };
  struct Kept {
    const Source* from;
    std::size_t row;
    std::array<float, 4> box;
  };

  void read(const MixedBoxes& which, const Batch& batch, int slot, std::span<std::uint8_t* const> memory,
            Source& source) const;
  void keep(const BoxOptions& options, const Source& from, const MixDraw& mix, int partner, ImageSize size);
  void write(const MixedBoxes& which, const Batch& batch, int slot, std::span<std::uint8_t* const> memory) const;

  std::array<Source, kMixGroupMax> sources_;
  std::vector<Kept> kept_;
};

}  // namespace stoker
