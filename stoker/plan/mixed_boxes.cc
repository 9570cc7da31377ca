#include "stoker/plan/mixed_boxes.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/plan/box_stage.h"
#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

constexpr std::size_t kNumbersOfBox = 4;

MutableBytes placed_rows(const Batch& batch, std::size_t view, int slot, std::span<std::uint8_t* const> memory) {
  const OutputSpec& spec = batch.outputs()[view];
  return spec.arrangement->placed(spec, batch.size(), memory[view], slot);
}

MutableBytes room_for(std::size_t rows, const Batch& batch, std::size_t view, int slot,
                      std::span<std::uint8_t* const> memory) {
  const OutputSpec& spec = batch.outputs()[view];
  Shape shape{static_cast<std::int64_t>(rows)};
  for (std::size_t axis = 1; axis < spec.shape.rank(); ++axis) shape.append(spec.shape[axis]);
  return spec.arrangement->place(spec, batch.size(), memory[view], slot, shape);
}

/// What a sample shows of its partner, as a box.
LabeledBox part_of(const MixDraw& mix, int partner, ImageSize size) {
  LabeledBox part{.right = static_cast<double>(size.width), .bottom = static_cast<double>(size.height)};
  if (mix.kind == MixDraw::Kind::kKeep) return partner == 0 ? part : LabeledBox{};
  assert(mix.kind == MixDraw::Kind::kQuarters);
  ((partner & 1) != 0 ? part.left : part.right) = mix.left;
  ((partner & 2) != 0 ? part.top : part.bottom) = mix.top;
  return part;
}

}  // namespace

void MixedBoxesStage::read(const MixedBoxes& which, const Batch& batch, int slot, std::span<std::uint8_t* const> memory,
                           Source& source) const {
  const MutableBytes boxes = placed_rows(batch, which.boxes, slot, memory);
  source.boxes.resize(boxes.size() / sizeof(float));
  if (!boxes.empty()) std::memcpy(source.boxes.data(), boxes.data(), boxes.size());
  source.labels.resize(which.labels.size());
  for (std::size_t i = 0; i < which.labels.size(); ++i) {
    const MutableBytes labels = placed_rows(batch, which.labels[i], slot, memory);
    source.labels[i].assign(labels.begin(), labels.end());
  }
}

// A box that is not cut stays as it is, bit for bit.
void MixedBoxesStage::keep(const BoxOptions& options, const Source& from, const MixDraw& mix, int partner,
                           ImageSize size) {
  const LabeledBox part = part_of(mix, partner, size);
  if (part.width() <= 0 || part.height() <= 0) return;
  for (std::size_t row = 0; row < from.boxes.size() / kNumbersOfBox; ++row) {
    Kept kept{&from, row, {}};
    std::copy_n(&from.boxes[kNumbersOfBox * row], kNumbersOfBox, kept.box.begin());
    const LabeledBox whole = load_box(options, size, kept.box.data());
    LabeledBox seen = whole;
    seen.left = std::max(whole.left, part.left);
    seen.top = std::max(whole.top, part.top);
    seen.right = std::min(whole.right, part.right);
    seen.bottom = std::min(whole.bottom, part.bottom);
    const bool is_cut =
        seen.left != whole.left || seen.top != whole.top || seen.right != whole.right || seen.bottom != whole.bottom;
    if (is_cut) {
      if (!is_kept(options, seen, whole)) continue;
      store_box(options, seen, size, kept.box.data());
    }
    kept_.push_back(kept);
  }
}

void MixedBoxesStage::write(const MixedBoxes& which, const Batch& batch, int slot,
                            std::span<std::uint8_t* const> memory) const {
  const MutableBytes boxes = room_for(kept_.size(), batch, which.boxes, slot, memory);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    std::memcpy(boxes.data() + i * sizeof(kept_[i].box), kept_[i].box.data(), sizeof(kept_[i].box));
  }
  for (std::size_t view = 0; view < which.labels.size(); ++view) {
    const MutableBytes labels = room_for(kept_.size(), batch, which.labels[view], slot, memory);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      constexpr std::size_t kBytes = sizeof(std::int64_t);
      std::memcpy(labels.data() + i * kBytes, kept_[i].from->labels[view].data() + kept_[i].row * kBytes, kBytes);
    }
  }
}

void MixedBoxesStage::mix(const Plan& plan, const MixedBoxes& which, const Batch& batch, std::span<const int> slots,
                          std::span<const MixDraw> mixes, ImageSize size, std::span<std::uint8_t* const> memory) {
  const BoxOptions& options = plan.views()[which.boxes].objects.boxes;
  for (std::size_t m = 0; m < slots.size(); ++m) read(which, batch, slots[m], memory, sources_[m]);
  for (std::size_t m = 0; m < slots.size(); ++m) {
    kept_.clear();
    for (std::size_t partner = 0; partner < slots.size(); ++partner) {
      keep(options, sources_[m ^ partner], mixes[m], static_cast<int>(partner), size);
    }
    write(which, batch, slots[m], memory);
  }
}

}  // namespace stoker
