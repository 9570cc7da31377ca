#include "stoker/runtime/engine/board_options.h"

#include <memory>
#include <vector>

namespace stoker {

BoardOptions board_options(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                           const MemoryPlan& memory) {
  BoardOptions board;
  board.batches.outputs = plan.outputs();
  if (plan.outputs_vary()) {
    board.batches.outputs_of = [&plan, seed = options.order.seed](const BatchWork& work) {
      return plan.outputs(batch_draw(work, seed));
    };
  }
  board.batches.device = device_side(dataset, plan, options);
  board.batches.transfer_index = options.knobs.transfer_index;
  board.order = options.order;
  if (options.order.kind == OrderKind::kWindowed) {
    board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(dataset.shard_samples());
  }
  board.slice = {.rank = options.rank, .world = options.world, .batch = options.batch};
  board.locator.fields = plan.fields();
  board.locator.optional = plan.optional_fields();
  board.locator.images.resize(board.locator.fields.size());
  for (const ViewPlan& view : plan.views()) {
    if (view.kind == ViewKind::kImage) board.locator.images[static_cast<std::size_t>(view.field)] = true;
  }
  board.locator.raw_windows = RawWindows(plan);
  board.locator.array_windows = ArrayWindows(plan);
  board.locator.seed = options.order.seed;
  board.entry_points_bytes = memory.entry_points;
  board.tickets.prefetch = options.knobs.prefetch;
  board.tickets.bad_sample = options.given.bad_sample;
  board.read_ahead.reserve_bytes = kArenaReserve;
  board.epochs_end = options.given.epochs_end;
  board.tickets.tickets_ahead = tickets_ahead(dataset, options);
  board.read_ahead.bytes = memory.read_ahead;
  board.read_ahead.least_bytes = least_read_ahead(dataset, options, board.read_ahead.bytes);
  board.read_ahead.near_bytes = near_bytes(dataset, options, board.read_ahead.bytes);
  board.batches.memory_max = {.host = memory.batches, .device = options.device_memory};
  board.locator.sample_bytes_max = sample_bytes_max(dataset, plan, options, memory);
  check_prefetch(board.tickets.prefetch, bytes_of_batch(dataset, plan, options),
                 shared_by_batches(dataset, plan, options), board.batches.memory_max);
  return board;
}

}  // namespace stoker
