// What the tuner turns: one setting of the knobs that a loader has.
#pragma once

namespace stoker {

struct KnobSetting {
  int threads = 1;         // workers
  int transfer_index = 0;  // stages on the CPU
  int prefetch = 1;        // batches made ahead
  int io_depth = 1;        // reads under way at once

  friend bool operator==(const KnobSetting&, const KnobSetting&) = default;
};

}  // namespace stoker
