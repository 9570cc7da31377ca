// Goes through samples in order with many threads: each sample is read once and processed by one thread, and samples
// come out in the order in which they went in. All jobs over a data set are built on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/byte_budget.h"
#include "stoker/format/sample_row.h"
#include "stoker/pack/ordered_producer.h"
#include "stoker/pack/sample_stream.h"
#include "stoker/pack/work_turns.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

/// A sample that was read.
struct SweptSample {
  SampleRow row;
  std::vector<Bytes> fields;               // their bytes, in the order of row.fields; none of one that was not read
  std::string bad;                         // why it is bad; empty if it is not
  std::vector<std::uint8_t> made;          // what work made of it, to which `fields` may point
  std::vector<std::uint8_t> label_text;    // the same
  std::vector<std::uint8_t> entry_points;  // of its image, for an index
  // To be asked for memory beyond the sample's bytes; where it says that much was taken, work gives it back itself.
  WorkTurns::Turn* turn = nullptr;
};

struct SweepOptions {
  int threads = 0;         // 0: as many as the process may use cores
  std::stop_token stop{};  // requested to stop early
  // Budget in bytes for all of it (pack/job_memory.h); unset: default_job_memory().
  std::optional<std::uint64_t> memory{};
  std::uint64_t bytes_max = 0;
  std::uint64_t growth = 0;  // bytes that work is expected to make of each that is read; what it made counts afterwards
  // Whether a sample that cannot be read is a bad one, on which no work is done; else, and where it is a store that
  // does not give it, that is an error.
  bool bad_if_unread = false;
};

class SampleSweep {
 public:
  /// Called on one of the threads, for each sample once. May change the sample as it likes, and throw.
  using Work = std::function<void(SweptSample& sample)>;

  /// `stream` is read as far as is needed, and outlives the sweep. `make_work` is called once on each thread.
  SampleSweep(SampleStream& stream, const SweepOptions& options, std::function<Work()> make_work);
  SampleSweep(const SampleSweep&) = delete;
  SampleSweep& operator=(const SampleSweep&) = delete;

  /// The next sample; null after the last. Valid until the next call. Throws what the stream, reading, or work threw,
  /// with the sample named; kClosed when asked to stop, kMemory for a sample that is too large for the budget.
  SweptSample* next();

  /// The most bytes that were held at once.
  std::uint64_t bytes_held_max() const { return budget_.most(); }
  /// The most that large samples took to be worked on.
  std::uint64_t work_bytes_max() const { return turns_.most(); }

 private:
  /// Fields that lie together in one source, read as one range.
  struct Range {
    Source* source;
    std::uint64_t begin, end;
    bool is_part;           // of a folder: a file of its own
    std::size_t place = 0;  // in the chunk's memory
    bool was_tried = false, was_read = false;
  };
  /// Neighbours that are read and worked on together.
  struct Chunk {
    ByteBudget::Grant grant;
    std::unique_ptr<WorkTurns::Turn> turn;
    std::vector<SweptSample> samples;
    std::vector<Range> ranges;
    std::vector<std::size_t> range_of;  // by field
    std::size_t bytes = 0;              // of all ranges
    Memory memory;
  };

  std::optional<Chunk> claim(const std::stop_token& stop);
  void plan(Chunk& chunk) const;
  void read(Chunk& chunk);
  void read_sample(SweptSample& sample, Chunk& chunk, std::size_t first_field) const;
  void work_on(Chunk& chunk, const Work& work) const;
  void read_bytes(Source& source, const SampleField& field, std::uint64_t begin, MutableBytes into) const;
  void note_unread(SweptSample& sample, const Error& error) const;
  void advise(const SampleRow& last);
  Memory take_memory(std::size_t bytes);
  void release(Memory memory);

  SampleStream& stream_;
  const std::stop_token stop_;
  const int threads_;
  const JobMemory memory_;
  const std::uint64_t growth_;
  const bool bad_if_unread_;
  SampleRow row_;  // read from the stream, not yet in a chunk
  bool has_row_ = false;
  const Source* advised_source_ = nullptr;
  std::uint64_t advised_to_ = 0;
  std::mutex mutex_;
  std::vector<Memory> spare_;  // of chunks that are done with
  ByteBudget budget_;
  WorkTurns turns_;
  Chunk current_;
  std::size_t next_ = 0;
  OrderedProducer<Chunk, Chunk> producer_;  // last: its threads use the above
};

}  // namespace stoker
