#include "stoker/pack/sample_sweep.h"

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/format/dataset.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

// A chunk is what one thread reads at once: enough that a disk reads it in one go.
constexpr std::uint64_t kChunkReadBytes = std::uint64_t{1} << 20;
// Of a large sample so much is read before it is asked again whether to stop.
constexpr std::uint64_t kReadPiece = 16 * kChunkReadBytes;
constexpr std::size_t kChunkSamples = 256;
constexpr std::uint64_t kReadAhead = 8 * kChunkReadBytes;
// Between neighbours lie headers and padding; what lies further apart is read by itself.
constexpr std::uint64_t kGapMax = 16 << 10;

std::uint64_t end_of(const SampleField& field) { return field.offset + field.length; }

/// What is taken for so many, so that it can be used again for others.
std::size_t memory_for(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, kChunkReadBytes * 5 / 4); }

}  // namespace

SampleSweep::SampleSweep(SampleStream& stream, const SweepOptions& options, std::function<Work()> make_work)
    : stream_(stream),
      stop_(options.stop),
      sample_bytes_max_(options.sample_bytes_max ? options.sample_bytes_max : usable_memory() / 2),
      growth_(options.growth),
      budget_(options.bytes_max),
      producer_(
          options.threads ? options.threads : usable_cores(),
          [this](const std::stop_token& stop) { return claim(stop); },
          [this, make = std::move(make_work)]() -> OrderedProducer<Chunk, Chunk>::Make {
            return [this, work = make()](Chunk chunk) {
              read(chunk);
              work_on(chunk, work);
              return chunk;
            };
          }) {}

void SampleSweep::work_on(Chunk& chunk, const Work& work) const {
  std::uint64_t made = 0;
  for (SweptSample& sample : chunk.samples) {
    stop_if_asked(stop_, sample.row.source->name());
    try {
      work(sample);
    } catch (const Error& error) {
      throw error.with_context(describe(sample.row));
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::kMemory, "{}: the machine has no memory left to work on it; use fewer threads",
           describe(sample.row));
    }
    made += sample.made.capacity();
  }
  chunk.grant.become(chunk.memory.size() + made);
}

std::optional<SampleSweep::Chunk> SampleSweep::claim(const std::stop_token& stop) {
  Chunk chunk;
  std::uint64_t bytes = 0;
  while (chunk.samples.size() < kChunkSamples) {
    if (!has_row_) has_row_ = stream_.next(row_);
    if (has_row_) stop_if_asked(stop_, row_.source->name());
    if (!has_row_) break;
    const std::uint64_t wanted = row_.bytes();
    if (!chunk.samples.empty() && (bytes + wanted > kChunkReadBytes || wanted > sample_bytes_max_)) break;
    if (wanted > sample_bytes_max_) {
      has_row_ = false;
      fail(ErrorKind::kLimit, "{}: it has {}, more than the {} that can be held in memory of one sample",
           describe(row_), format_size(static_cast<double>(wanted)),
           format_size(static_cast<double>(sample_bytes_max_)));
    }
    bytes += wanted;
    chunk.samples.emplace_back().row = std::exchange(row_, SampleRow());
    has_row_ = false;
  }
  if (chunk.samples.empty()) return std::nullopt;
  plan(chunk);
  std::optional<ByteBudget::Grant> grant = budget_.take(memory_for(chunk.bytes) + growth_ * chunk.bytes, stop);
  if (!grant) return std::nullopt;
  chunk.grant = std::move(*grant);
  if (chunk.ranges.size() == 1) advise(chunk.samples.back().row);
  return chunk;
}

// What comes after a chunk that lay together is wanted soon. The kernel is told of many bytes at a time.
void SampleSweep::advise(const SampleRow& last) {
  if (last.fields.empty() || !last.fields.back().part.empty()) return;
  const std::uint64_t here = end_of(last.fields.back());
  const bool goes_on = last.source == advised_source_ && advised_to_ >= here && advised_to_ - here <= kReadAhead;
  const std::uint64_t from = goes_on ? advised_to_ : here;
  const std::uint64_t to = here + kReadAhead;
  if (to - from < kReadAhead / 2) return;
  last.source->will_need(from, to - from);
  advised_source_ = last.source;
  advised_to_ = to;
}

Memory SampleSweep::take_memory(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      Memory memory = std::move(spare_.back());
      spare_.pop_back();
      if (memory.size() >= bytes) return memory;
    }
  }
  return Memory(host_allocator(), memory_for(bytes));
}

void SampleSweep::give_back(Memory memory) {
  const std::lock_guard lock(mutex_);
  // Those of very large samples are not kept.
  if (memory.size() <= 2 * kChunkReadBytes) spare_.push_back(std::move(memory));
}

// Neighbouring fields of one source are read as one range, headers between them included.
void SampleSweep::plan(Chunk& chunk) const {
  for (const SweptSample& sample : chunk.samples) {
    for (const SampleField& field : sample.row.fields) {
      Range* const last = chunk.ranges.empty() ? nullptr : &chunk.ranges.back();
      if (last && field.part.empty() && last->source == sample.row.source && field.offset >= last->end &&
          field.offset - last->end <= kGapMax) {
        last->end = end_of(field);
      } else {
        chunk.ranges.push_back({sample.row.source, field.offset, end_of(field)});
      }
      chunk.range_of.push_back(chunk.ranges.size() - 1);
    }
  }
  for (Range& range : chunk.ranges) {
    range.place = chunk.bytes;
    chunk.bytes += range.end - range.begin;
  }
}

void SampleSweep::read(Chunk& chunk) {
  try {
    chunk.memory = take_memory(chunk.bytes);
  } catch (const Error& error) {
    throw error.with_context(describe(chunk.samples.front().row));
  }
  const MutableBytes memory(chunk.memory.data(), chunk.bytes);
  std::size_t fields = 0, ranges_read = 0;
  for (SweptSample& sample : chunk.samples) {
    for (const SampleField& field : sample.row.fields) {
      const std::size_t number = chunk.range_of[fields++];
      const Range& range = chunk.ranges[number];
      if (number == ranges_read) {  // with the first of its fields, so that an error names that sample
        ++ranges_read;
        read_range(range, sample.row, field, memory.subspan(range.place, range.end - range.begin));
      }
      sample.fields.emplace_back(memory.subspan(range.place + field.offset - range.begin, field.length));
    }
  }
}

void SampleSweep::read_range(const Range& range, const SampleRow& row, const SampleField& first,
                             MutableBytes into) const {
  try {
    if (!first.part.empty() && range.source->size(first.part) != first.length) {
      fail(ErrorKind::kData, "'{}/{}' has changed since its folder was listed; it had {} bytes then",
           range.source->name(), first.part, first.length);
    }
    std::uint64_t at = range.begin;
    do {
      stop_if_asked(stop_, range.source->name());
      const MutableBytes piece = into.first(std::min<std::uint64_t>(into.size(), kReadPiece));
      read_fully(*range.source, at, piece, first.part);
      at += piece.size();
      into = into.subspan(piece.size());
    } while (!into.empty());
  } catch (const Error& error) {
    throw error.with_context(describe(row));
  }
}

SweptSample* SampleSweep::next() {
  if (stop_.stop_requested()) fail(ErrorKind::kClosed, "stopped");
  if (next_ == current_.samples.size()) {
    // Before the next is waited for, which may be waiting for this one's bytes.
    give_back(std::exchange(current_, Chunk()).memory);
    next_ = 0;
    std::optional<Chunk> chunk = producer_.next();
    if (!chunk) return nullptr;
    current_ = std::move(*chunk);
  }
  return &current_.samples[next_++];
}

}  // namespace stoker
