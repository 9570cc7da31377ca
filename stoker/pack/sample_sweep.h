// Goes through samples in order with many threads: each is read once and worked on by one of them, and they come out in
// the order in which they went in. What all jobs over a data set are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/sample_row.h"
#include "stoker/pack/ordered_producer.h"
#include "stoker/pack/sample_stream.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

/// A sample that was read.
struct SweptSample {
  SampleRow row;
  std::vector<Bytes> fields;             // their bytes, in the order of row.fields
  std::string bad;                       // why it is bad; empty if it is not
  std::vector<std::uint8_t> made;        // what work made of it, to which `fields` may point
  std::vector<std::uint8_t> label_text;  // likewise
};

struct SweepOptions {
  int threads = 0;         // 0: as many as the process may use cores
  std::stop_token stop{};  // requested to stop early
};

class SampleSweep {
 public:
  /// Called on one of the threads, for each sample once. May change the sample as it likes, and throw.
  using Work = std::function<void(SweptSample& sample)>;

  /// `stream` is read as far as is needed, and outlives the sweep. `make_work` is called once on each thread.
  SampleSweep(SampleStream& stream, const SweepOptions& options, std::function<Work()> make_work);

  /// The next sample; null after the last. Valid until the next call. Throws what the stream, reading, or work threw,
  /// with the sample named; kClosed when asked to stop.
  SweptSample* next();

 private:
  struct Range;
  /// Neighbours that are read and worked on together.
  struct Chunk {
    std::vector<SweptSample> samples;
    Memory memory;
  };

  std::optional<Chunk> claim();
  void read(Chunk& chunk);
  void read_range(const Range& range, const SampleRow& row, const SampleField& first, MutableBytes into) const;
  void advise(const SampleRow& last);
  Memory take_memory(std::size_t bytes);
  void give_back(Memory memory);

  SampleStream& stream_;
  const std::stop_token stop_;
  SampleRow row_;  // read from the stream, not yet in a chunk
  bool has_row_ = false;
  const Source* advised_source_ = nullptr;
  std::uint64_t advised_to_ = 0;
  std::mutex mutex_;
  std::vector<Memory> spare_;  // of chunks that are done with
  Chunk current_;
  std::size_t next_ = 0;
  OrderedProducer<Chunk, Chunk> producer_;  // last: its threads use the above
};

}  // namespace stoker
