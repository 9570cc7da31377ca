// What the library says goes to Python's logging.getLogger("stoker"). No thread ever waits for the interpreter lock to
// say something: messages stand in a bounded queue until a thread that has the lock takes them, so logging cannot
// deadlock whatever locks the caller holds.
#pragma once

namespace stoker::python {

/// Hands queued messages to Python's logging, and lets through from now on what its logger "stoker" does. The
/// interpreter lock must be held. An exception of a handler is printed, as logging itself does.
void deliver_log();

/// Stops taking messages and delivers the last: before the interpreter ends, after every loader is closed.
void end_log();

}  // namespace stoker::python
