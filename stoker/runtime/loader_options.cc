#include "stoker/runtime/loader_options.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// Encoded samples that wait for a worker: some hundred photographs. More would not make local storage faster.
constexpr std::size_t kReadAheadMax = std::size_t{64} << 20;
constexpr std::size_t kReadAheadMin = std::size_t{1} << 20;

// The windowed order is read window by window if a window's samples are all drawn before the first of them is wanted:
// all windows in use, and this part of them more, which is the time to read in.
constexpr double kWindowSlack = 0.25;

/// How many samples of this rank the windowed order has drawn by then; 0 for other orders.
std::int64_t tickets_ahead(const OrderOptions& order, int world) {
  if (order.kind != OrderKind::kWindowed) return 0;
  const double lanes = static_cast<double>(order.lanes) / world;
  const double samples = std::min(lanes * static_cast<double>(order.window), static_cast<double>(order.samples));
  return static_cast<std::int64_t>((1 + kWindowSlack) * samples) + 1;
}

/// What so many samples take in the arena, where each is padded: by half a unit on average.
std::size_t bytes_of(const Dataset& dataset, std::int64_t tickets) {
  const double mean = static_cast<double>(dataset.bytes()) / static_cast<double>(dataset.size()) +
                      static_cast<double>(EncodedArena::kUnit) / 2;
  return static_cast<std::size_t>(std::min(mean * static_cast<double>(tickets), 1e15));
}

/// How much of the read-ahead is read without waiting for neighbours: of the windowed order, what its slack is. Of
/// others half, so that the reads of storage that is slow do not shrink to what workers give back at a time.
std::size_t near_bytes(const Dataset& dataset, const BoardOptions& board) {
  if (board.tickets_ahead == 0) return board.read_ahead_bytes / 2;
  const std::size_t windows = std::min(bytes_of(dataset, board.tickets_ahead), board.read_ahead_bytes);
  return static_cast<std::size_t>(kWindowSlack / (1 + kWindowSlack) * static_cast<double>(windows));
}

std::string human(std::size_t bytes) { return format_size(static_cast<double>(bytes)); }

// The batches made ahead, and the one that the consumer holds; more than any machine has where the product overflows.
std::size_t least_batch_memory(int prefetch, std::size_t batch_bytes) {
  std::size_t bytes;
  const bool overflows = __builtin_mul_overflow(static_cast<std::size_t>(prefetch) + 1, batch_bytes, &bytes);
  return overflows ? SIZE_MAX / 2 : bytes;
}

int resolve_batch(const LoaderOptions& options) {
  if ((options.batch > 0) == (options.global_batch > 0)) {
    fail(ErrorKind::kUsage, "give either batch (per rank) or global_batch, a positive number");
  }
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    fail(ErrorKind::kUsage, "rank {} of a world of {} does not exist; ranks run from 0 to world - 1", options.rank,
         options.world);
  }
  if (options.batch > 0) return options.batch;
  if (options.global_batch % options.world != 0) {
    fail(ErrorKind::kUsage, "a global batch of {} cannot be divided among {} ranks", options.global_batch,
         options.world);
  }
  const std::int64_t batch = options.global_batch / options.world;
  if (batch > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kUsage, "a batch of {} samples per rank is more than the {} possible", batch,
         std::numeric_limits<int>::max());
  }
  return static_cast<int>(batch);
}

/// For complete options. The sizes of the shards are left out: they take a look at every sample.
OrderOptions order_options(const Dataset& dataset, const LoaderOptions& options) {
  OrderOptions order{.samples = dataset.size(),
                     .global_batch = options.global_batch,
                     .kind = options.order,
                     .tail = *options.tail,
                     .seed = options.seed};
  if (options.window) order.window = *options.window;
  if (options.lanes) order.lanes = *options.lanes;
  return order;
}

void check_order(const Dataset& dataset, const LoaderOptions& options) {
  if (options.order != OrderKind::kWindowed && (options.window || options.lanes)) {
    fail(ErrorKind::kUsage, "the order {} has no {}; leave it out, or use order windowed", to_string(options.order),
         options.window ? "window" : "lanes");
  }
  check_order(order_options(dataset, options), options.world);
}

}  // namespace

LoaderOptions complete_options(const Dataset& dataset, const Recipe& recipe, LoaderOptions options) {
  if (dataset.size() == 0) fail(ErrorKind::kData, "the data set is empty: there is nothing to train on");
  if (options.threads != 0) check_threads(options.threads);
  options.batch = resolve_batch(options);
  options.global_batch = std::int64_t{options.batch} * options.world;
  if (options.threads == 0) options.threads = usable_cores();
  if (!options.memory) options.memory = usable_memory() / 4;
  if (!options.tail) options.tail = parse_tail(recipe.tail());
  check_order(dataset, options);
  if (*options.tail == Tail::kDrop && dataset.size() < options.global_batch) {
    fail(ErrorKind::kUsage,
         "the data set has {} samples, fewer than one global batch of {}; use a smaller batch, or tail wrap or pad",
         dataset.size(), options.global_batch);
  }
  return options;
}

void check_prefetch(int prefetch, std::size_t batch_bytes, std::size_t batch_memory_max) {
  if (prefetch < 1) fail(ErrorKind::kUsage, "prefetch must be at least 1, not {}", prefetch);
  const std::size_t needed = least_batch_memory(prefetch, batch_bytes);
  if (needed > batch_memory_max) {
    fail(ErrorKind::kMemory,
         "{} prefetched batches of {} and one in use need {} of memory, but the budget leaves {}; use a smaller batch "
         "or prefetch, or more memory",
         prefetch, human(batch_bytes), human(needed), human(batch_memory_max));
  }
}

BoardOptions board_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options) {
  BoardOptions board;
  board.outputs = plan.outputs();
  if (board.outputs.size() > kOutputsMax) {
    fail(ErrorKind::kLimit, "the recipe has {} outputs; at most {} are possible", board.outputs.size(), kOutputsMax);
  }
  board.order = order_options(dataset, options);
  if (options.order == OrderKind::kWindowed) {
    board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(dataset.shard_samples());
  }
  board.slice = {.rank = options.rank, .world = options.world, .batch = options.batch};
  board.fields = plan.fields();
  board.prefetch = options.prefetch;
  board.epochs_end = options.epochs_end;
  const std::size_t batches =
      least_batch_memory(std::max(options.prefetch, 1), batch_bytes(board.outputs, options.batch));
  const std::size_t memory = *options.memory;
  if (memory < batches + kReadAheadMin) {
    fail(ErrorKind::kMemory, "a memory budget of {} cannot work; the least for this batch and prefetch is {}",
         human(memory), human(batches + kReadAheadMin));
  }
  board.tickets_ahead = tickets_ahead(board.order, options.world);
  const std::size_t wanted = std::max(kReadAheadMax, bytes_of(dataset, board.tickets_ahead));
  board.read_ahead_bytes = std::clamp((memory - batches) / 2, kReadAheadMin, wanted);
  board.near_bytes = near_bytes(dataset, board);
  board.batch_memory_max = memory - board.read_ahead_bytes;
  board.sample_bytes_max = std::min<std::uint64_t>(board.sample_bytes_max, memory - batches);
  check_prefetch(options.prefetch, batch_bytes(board.outputs, options.batch), board.batch_memory_max);
  return board;
}

std::uint64_t memory_bytes_min(const Recipe& recipe, const LoaderOptions& options) {
  return least_batch_memory(options.prefetch, batch_bytes(Plan(recipe).outputs(), resolve_batch(options))) +
         kReadAheadMin;
}

}  // namespace stoker
