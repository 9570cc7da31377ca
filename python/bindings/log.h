// What the library says goes to Python's logging.getLogger("stoker"). No thread ever waits for the interpreter lock to
// say something: messages stand in a bounded queue until a thread that has the lock takes them, so logging cannot
// deadlock whatever locks the caller holds.
#pragma once

namespace stoker::python {

/// From now on lets through what Python's logger "stoker" does at present. The interpreter lock must be held, as below.
void follow_log_level();

/// Hands queued messages to Python's logging; runs no Python code if there are none. An Exception of a handler is
/// printed, as logging itself does; what is none (KeyboardInterrupt) is thrown, and the messages after it stay queued.
void deliver_log();

/// Stops taking messages and delivers the last: before the interpreter ends, after every loader is closed.
void end_log();

}  // namespace stoker::python
