// Host memory for batches that their consumer copies to a GPU by itself.
#pragma once

#include <memory>

#include "stoker/device/device.h"

namespace stoker {

class PinnedHost {
 public:
  virtual ~PinnedHost() = default;

  /// Pinned, as long as the machine allows that.
  virtual Allocator& memory() = 0;
  /// As Device::mark(), for streams of any GPU that this process uses.
  virtual std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept = 0;
};

/// Null, and a warning in the log that says why, where nothing can be pinned.
std::shared_ptr<PinnedHost> open_pinned_host();

}  // namespace stoker
