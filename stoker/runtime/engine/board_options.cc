#include "stoker/runtime/engine/board_options.h"

#include <memory>
#include <vector>

namespace stoker {

BoardOptions board_options(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                           const MemoryPlan& memory) {
  BoardOptions board;
  board.outputs = plan.outputs();
  board.device = device_side(dataset, plan, options);
  board.transfer_index = options.knobs.transfer_index;
  board.order = options.order;
  if (options.order.kind == OrderKind::kWindowed) {
    board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(dataset.shard_samples());
  }
  board.slice = {.rank = options.rank, .world = options.world, .batch = options.batch};
  board.fields = plan.fields();
  board.planar.resize(board.fields.size());
  for (const ViewPlan& view : plan.views()) {
    const bool planar = view.kind == ViewKind::kImage && view.image.decode.mode == DecodeMode::kPlanar;
    if (planar) board.planar[static_cast<std::size_t>(view.field)] = true;
  }
  board.raw_windows = RawWindows(plan, options.order.seed);
  board.prefetch = options.knobs.prefetch;
  board.bad_sample = options.given.bad_sample;
  board.reserve_bytes = kArenaReserve;
  board.epochs_end = options.given.epochs_end;
  board.tickets_ahead = tickets_ahead(options);
  board.read_ahead_bytes = memory.read_ahead;
  board.near_bytes = near_bytes(dataset, board.tickets_ahead, board.read_ahead_bytes);
  board.batch_memory_max = {.host = memory.batches, .device = options.device_memory};
  board.sample_bytes_max = sample_bytes_max(dataset, plan, options, memory);
  const LoaderBatchBytes batch_bytes = bytes_of_batch(dataset, plan, options);
  check_prefetch(board.prefetch, batch_bytes, board.batch_memory_max);
  return board;
}

}  // namespace stoker
