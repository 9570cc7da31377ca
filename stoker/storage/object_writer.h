// Writes an object, which takes its name in its store when it is complete, or not at all.
#pragma once

#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

/// Threads: one at a time.
class ObjectWriter {
 public:
  /// Leaves nothing of what was not committed.
  virtual ~ObjectWriter() = default;

  /// For messages: its location as the user knows it.
  virtual const std::string& name() const = 0;
  /// Throws kIo naming the object (no space left, for example); nothing but destruction may follow that.
  virtual void write(Bytes bytes) = 0;
  /// The object is there, whole and lasting, when this returns. To be called once.
  virtual void commit() = 0;
};

}  // namespace stoker
