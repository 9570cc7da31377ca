// What a loader did when, as a file for Perfetto (ui.perfetto.dev) or Chrome's tracing: a row for each worker, each
// read under way, each batch, the device and the consumer. Events are kept in memory until the loader closes: of each
// thread the last ones, so that a run of any length takes as much.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/threads.h"
#include "stoker/ops/stage.h"
#include "stoker/runtime/report/batch_times.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {

enum class TraceKind : std::uint8_t {
  kSample,
  kMix,
  kCall,
  kMemory,
  kHandedOver,
  kRead,
  kBatch,
  kDevice,
  kWait,
  kStep
};

/// A time span, and numbers whose meaning depends on its kind.
struct TraceEvent {
  TraceKind kind = TraceKind::kSample;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t epoch = 0, batch = 0, number = 0;
  // Of a sample how long its stages took, by kStageRuns; of a batch the times at which it went from one part of its
  // life to the next.
  std::array<std::int64_t, kStageRuns.size()> parts_ns{};
};

/// The last events of one thread, or of those that take turns. Adding allocates nothing.
class TraceEvents {
 public:
  explicit TraceEvents(std::size_t most) : most_(most) { events_.reserve(most); }

  void add(const TraceEvent& event) {
    if (events_.size() < most_) {
      events_.push_back(event);
    } else {
      events_[static_cast<std::size_t>(added_) % most_] = event;
    }
    ++added_;
  }
  const std::vector<TraceEvent>& events() const { return events_; }
  std::int64_t dropped() const { return added_ - static_cast<std::int64_t>(events_.size()); }

 private:
  const std::size_t most_;
  std::vector<TraceEvent> events_;
  std::int64_t added_ = 0;
};

struct TraceOptions {
  std::string path;
  std::string process{};  // the loader, as the file calls it
  int rank = 0;
  std::size_t worker_events = std::size_t{1} << 14, other_events = std::size_t{1} << 16;
};

class Trace {
 public:
  /// Creates the file, which takes its name when it is written. Throws kIo.
  explicit Trace(TraceOptions options);

  /// Makes room for so many workers, before they come. One thread at a time.
  void have_workers(int count);
  /// For the worker's thread.
  TraceEvents& worker(int number) { return *workers_[static_cast<std::size_t>(number)]; }
  /// Reads and batches: under the loader's lock.
  TraceEvents& shared() { return shared_; }
  /// For the consumer's thread: its waits and steps, and the device's work.
  TraceEvents& consumer() { return consumer_; }

  /// Writes the file, once no thread adds any more. Throws kIo. Idempotent.
  void write();

 private:
  void write_events(AtomicFile& file) const;

  const TraceOptions options_;
  const std::int64_t begin_ns_;
  std::optional<AtomicFile> file_;
  std::array<std::unique_ptr<TraceEvents>, kThreadsMax> workers_;  // others read while one is added
  TraceEvents shared_, consumer_;
};

/// Of a batch that was released, from its first sample's draw on.
TraceEvent batch_event(std::int64_t epoch, std::int64_t index, const BatchTimes& times, std::int64_t released_ns);

}  // namespace stoker
