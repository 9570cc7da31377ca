// The board on which the engine's threads meet: the state of all tickets and batches under way, in parts of which each
// has a subject of its own. It starts no threads and takes no locks: what changes is used under the engine's.
#pragma once

#include <cstdint>

#include "stoker/runtime/board/batch_pool.h"
#include "stoker/runtime/board/read_ahead.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/board/ticket_board.h"
#include "stoker/runtime/board/ticket_order.h"

namespace stoker {

struct BoardOptions {
  OrderOptions order;
  RankSlice slice;
  std::int64_t epochs_end = INT64_MAX;  // nothing is drawn of this epoch and later ones
  LocatorOptions locator;
  std::uint64_t entry_points_bytes = 0;  // that the locator may keep
  ReadAheadOptions read_ahead;
  BatchPoolOptions batches;
  TicketBoardOptions tickets;
};

struct Board {
  Board(const Dataset& dataset, const BoardOptions& options, Allocator& allocator)
      : locator(dataset, options.locator),
        order(options.order, options.slice, options.epochs_end),
        read_ahead(options.read_ahead, allocator),
        batches(options.batches, options.slice.batch, allocator),
        tickets(options.tickets, locator, order, read_ahead, batches) {}

  const SampleLocator locator;  // needs no lock
  TicketOrder order;
  ReadAhead read_ahead;
  BatchPool batches;
  TicketBoard tickets;
};

}  // namespace stoker
