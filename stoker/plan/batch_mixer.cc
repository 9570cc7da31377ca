#include "stoker/plan/batch_mixer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/ops/kernels/mix/mix_numbers.h"
#include "stoker/ops/kernels/mix/mix_pictures.h"
#include "stoker/plan/mixed_boxes.h"

namespace stoker {
namespace {

// Copies of one sample are at most `repeats` positions apart: partners are farther, by a power of two, so that a block
// is no larger than it must be for batches of the usual sizes.
int stretch_of(std::int64_t repeats) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(repeats, 1))));
}

// Draws are for the first of the images that a step mixes.
ImageSize drawn_size(const Batch& batch, const MixStep& step) {
  return image_size_of(batch.outputs()[step.images.front()]);
}

// Scratch memory.
thread_local MixedBoxesStage t_boxes;

}  // namespace

BatchMixer::BatchMixer(const Plan& plan, const MixOrder& order, int slots)
    : plan_(plan),
      order_(order),
      slots_(slots),
      stretch_(stretch_of(order.repeats)),
      block_(plan.mixing().block() * stretch_) {
  if (slots % block_ != 0) {
    fail(ErrorKind::kUsage,
         "the recipe mixes samples in blocks of {}{}, so a rank's batch has to be a multiple of {}, not {}", block_,
         order.repeats > 1 ? ", since they are repeated" : "", block_, slots);
  }
}

// Positions grow from slot to slot, and in a shorter last batch some are left out.
MixGroup BatchMixer::group_at(const Batch& batch, std::size_t number, int slot) const noexcept {
  const MixStep& step = steps()[number];
  const std::int64_t distance = std::int64_t{step.distance} * stretch_;
  const std::int64_t base = batch.position[static_cast<std::size_t>(slot)];
  MixGroup group;
  if (base / distance % step.group != 0) return group;
  for (int m = 0; m < step.group; ++m) {
    int at = static_cast<int>(std::min<std::int64_t>(slot + m * distance, batch.size() - 1));
    while (at > slot && batch.position[static_cast<std::size_t>(at)] > base + m * distance) --at;
    if (batch.position[static_cast<std::size_t>(at)] != base + m * distance || !batch.valid(at)) return group;
    group.slots[static_cast<std::size_t>(m)] = at;
  }
  group.size = step.group;
  return group;
}

MixDraw BatchMixer::draw_of(const Batch& batch, std::span<const MixDraw> draws, std::size_t step, int slot,
                            std::size_t view) const {
  return scaled(draw_of(draws, step, slot), drawn_size(batch, steps()[step]), image_size_of(batch.outputs()[view]));
}

void BatchMixer::mix(const Batch& batch, int first, int count, std::span<MixDraw> draws,
                     MixedViews views) const noexcept {
  for (std::size_t step = 0; step < steps().size(); ++step) {
    for (int slot = first; slot < first + count; ++slot) {
      const MixGroup group = group_at(batch, step, slot);
      if (group.size == 0) continue;
      draw(batch, step, group, draws);
      mix_group(batch, step, group, draws, views);
    }
  }
}

void BatchMixer::draw(const Batch& batch, std::size_t number, const MixGroup& group,
                      std::span<MixDraw> draws) const noexcept {
  const MixStep& step = steps()[number];
  const auto position_of = [&](int member) {
    return batch.position[static_cast<std::size_t>(group.slots[static_cast<std::size_t>(member)])];
  };
  MixDraw drawn;
  for (int m = 0; m < group.size; ++m) {
    if (m == 0 || step.mode == MixMode::kPerSample) {
      const std::int64_t key = step.mode == MixMode::kPerBatch ? position_of(0) / order_.global_batch : position_of(m);
      Random random(order_.seed, static_cast<std::uint64_t>(batch.epoch), static_cast<std::uint64_t>(key), step.stream);
      drawn = step.op->draw(random, drawn_size(batch, step));
    }
    draws[number * static_cast<std::size_t>(slots_) +
          static_cast<std::size_t>(group.slots[static_cast<std::size_t>(m)])] = drawn;
  }
}

void BatchMixer::mix_group(const Batch& batch, std::size_t step, const MixGroup& group, std::span<const MixDraw> draws,
                           MixedViews views) const noexcept {
  const auto slot_bytes = [&](std::size_t view) { return batch.outputs()[view].bytes_per_sample(); };
  const auto size = static_cast<std::size_t>(group.size);
  std::array<MixDraw, kMixGroupMax> mixes;
  std::array<std::uint8_t*, kMixGroupMax> values;
  const auto values_of = [&](std::size_t view) {
    for (std::size_t m = 0; m < size; ++m) {
      values[m] = views[view] + slot_bytes(view) * static_cast<std::size_t>(group.slots[m]);
    }
    return std::span(values).first(size);
  };
  for (const std::size_t view : steps()[step].images) {
    if (!views[view]) continue;
    for (std::size_t m = 0; m < size; ++m) mixes[m] = draw_of(batch, draws, step, group.slots[m], view);
    mix_pictures(values_of(view), std::span(mixes).first(size), plan_.views()[view].image.format,
                 image_size_of(batch.outputs()[view]));
  }
  for (const MixedBoxes& boxes : steps()[step].boxes) {
    const std::size_t image = plan_.views()[boxes.boxes].like;
    for (std::size_t m = 0; m < size; ++m) mixes[m] = draw_of(batch, draws, step, group.slots[m], image);
    t_boxes.mix(plan_, boxes, batch, std::span(group.slots).first(size), std::span(mixes).first(size),
                image_size_of(batch.outputs()[image]), views);
  }
  for (std::size_t m = 0; m < size; ++m) mixes[m] = draw_of(draws, step, group.slots[m]);
  const MixProgram& program = plan_.mixing();
  for (const std::size_t view : program.soft) {
    mix_numbers(values_of(view), std::span(mixes).first(size), slot_bytes(view) / sizeof(float));
  }
  for (const MixedPair& pair : program.pairs) {
    for (std::size_t m = 0; m < size; ++m) {
      if (mixes[m].kind == MixDraw::Kind::kKeep) continue;
      const auto value = [&](std::size_t view, std::size_t member) {
        return views[view] + slot_bytes(view) * static_cast<std::size_t>(group.slots[member]);
      };
      std::memcpy(value(pair.partner, m), value(pair.own, m ^ 1), slot_bytes(pair.own));
    }
  }
  if (!program.share) return;
  for (std::size_t m = 0; m < size; ++m) std::memcpy(values_of(*program.share)[m], &mixes[m].weight[0], sizeof(float));
}

}  // namespace stoker
