// The stores of all schemes, with the threads that read from them. Add a new store here. Threads: any.
#pragma once

#include <stop_token>

#include "stoker/runtime/open.h"
#include "stoker/storage/stores.h"

namespace stoker {

/// Adds the stores that are reached over a network; their thread begins with the first request, and lives as long as a
/// copy of the stores, or what was opened by one. A request to `stop` ends what is asked of servers, then and later.
/// Throws kUsage for variables of the environment that make no sense.
void add_remote_stores(Stores& stores, const StoreOptions& options, const std::stop_token& stop);

/// All of them. The threads live as long as a copy of the stores, or what was opened by one. Throws kIo where the way
/// to read does not work; otherwise as add_remote_stores().
Stores open_stores(const OpenOptions& options = {}, const std::stop_token& stop = {});

}  // namespace stoker
