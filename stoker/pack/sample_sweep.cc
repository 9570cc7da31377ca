#include "stoker/pack/sample_sweep.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
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

}  // namespace

/// Fields that lie together in one source, read as one range.
struct SampleSweep::Range {
  Source* source;
  std::uint64_t begin, end;
  std::size_t place = 0;  // in the chunk's memory

  bool can_reach(const SampleRow& row, const SampleField& field) const {
    return field.part.empty() && source == row.source && field.offset >= end && field.offset - end <= kGapMax;
  }
};

SampleSweep::SampleSweep(SampleStream& stream, const SweepOptions& options, std::function<Work()> make_work)
    : stream_(stream),
      stop_(options.stop),
      producer_(
          options.threads ? options.threads : usable_cores(), [this] { return claim(); },
          [this, make = std::move(make_work)]() -> OrderedProducer<Chunk, Chunk>::Make {
            return [this, work = make()](Chunk chunk) {
              read(chunk);
              for (SweptSample& sample : chunk.samples) {
                stop_if_asked(stop_, sample.row.source->name());
                try {
                  work(sample);
                } catch (const Error& error) {
                  throw error.with_context(describe(sample.row));
                }
              }
              return chunk;
            };
          }) {}

std::optional<SampleSweep::Chunk> SampleSweep::claim() {
  Chunk chunk;
  std::uint64_t bytes = 0;
  while (chunk.samples.size() < kChunkSamples) {
    if (!has_row_) has_row_ = stream_.next(row_);
    if (has_row_) stop_if_asked(stop_, row_.source->name());
    if (!has_row_) break;
    if (!chunk.samples.empty() && bytes + row_.bytes() > kChunkReadBytes) break;
    bytes += row_.bytes();
    chunk.samples.emplace_back().row = std::exchange(row_, SampleRow());
    has_row_ = false;
  }
  if (chunk.samples.empty()) return std::nullopt;
  advise(chunk.samples.back().row);
  return chunk;
}

// What comes next is wanted soon. The kernel is told of each byte once, and of many at a time.
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
  return Memory(host_allocator(), std::max<std::size_t>(bytes, kChunkReadBytes * 5 / 4));
}

void SampleSweep::give_back(Memory memory) {
  const std::lock_guard lock(mutex_);
  // Those of very large samples are not kept.
  if (memory.size() <= 2 * kChunkReadBytes) spare_.push_back(std::move(memory));
}

// Neighbouring fields of one source are read as one range, headers between them included.
void SampleSweep::read(Chunk& chunk) {
  std::vector<Range> ranges;
  std::vector<std::size_t> range_of;  // by field
  for (const SweptSample& sample : chunk.samples) {
    for (const SampleField& field : sample.row.fields) {
      if (!ranges.empty() && ranges.back().can_reach(sample.row, field)) {
        ranges.back().end = end_of(field);
      } else {
        ranges.push_back({sample.row.source, field.offset, end_of(field)});
      }
      range_of.push_back(ranges.size() - 1);
    }
  }
  std::size_t total = 0;
  for (Range& range : ranges) {
    range.place = total;
    total += range.end - range.begin;
  }
  chunk.memory = take_memory(total);
  const MutableBytes memory(chunk.memory.data(), total);

  std::size_t fields = 0, ranges_read = 0;
  for (SweptSample& sample : chunk.samples) {
    for (const SampleField& field : sample.row.fields) {
      const std::size_t number = range_of[fields++];
      const Range& range = ranges[number];
      if (number == ranges_read) {  // with the first of its fields, so that an error names that sample
        ++ranges_read;
        read_range(range, sample.row, field, memory.subspan(range.place, range.end - range.begin));
      }
      sample.fields.push_back(memory.subspan(range.place + field.offset - range.begin, field.length));
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
    std::optional<Chunk> chunk = producer_.next();
    if (!chunk) return nullptr;
    give_back(std::exchange(current_, std::move(*chunk)).memory);
    next_ = 0;
  }
  return &current_.samples[next_++];
}

}  // namespace stoker
