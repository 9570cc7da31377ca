#include "stoker/pack/sample_sweep.h"

#include <fmt/format.h>

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
// Where work makes many times of what is read, how much is known only once it is made: it is begun sample by sample.
constexpr std::uint64_t kMuchGrowth = 2;
constexpr std::uint64_t kReadAhead = 8 * kChunkReadBytes;
// More than this does not make a sweep faster, whatever the budget.
constexpr std::uint64_t kBytesMax = std::uint64_t{256} << 20;

std::uint64_t end_of(const SampleField& field) { return field.offset + field.length; }

/// What is taken for so many, so that it can be used again for others.
std::size_t memory_for(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, kChunkReadBytes * 5 / 4); }

}  // namespace

SampleSweep::SampleSweep(SampleStream& stream, const SweepOptions& options, std::function<Work()> make_work)
    : stream_(stream),
      stop_(options.stop),
      threads_(options.threads ? options.threads : usable_cores()),
      memory_(divide_job_memory(options.memory.value_or(default_job_memory(threads_)), threads_)),
      growth_(options.growth),
      bad_if_unread_(options.bad_if_unread),
      budget_(options.bytes_max ? options.bytes_max : std::min(memory_.read, kBytesMax)),
      turns_(memory_, threads_),
      producer_(
          threads_, [this](const std::stop_token& stop) { return claim(stop); },
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
    if (!sample.bad.empty()) continue;
    sample.turn = chunk.turn.get();
    try {
      work(sample);
    } catch (const Error& error) {
      throw error.with_context(describe(sample.row));
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::kMemory,
           "{}: the machine has no memory left to process it; use fewer threads, or a smaller memory budget (--memory)",
           describe(sample.row));
    }
    if (chunk.turn->is_large()) {
      chunk.turn->leave(sample.made.capacity());
    } else {
      made += sample.made.capacity();
    }
  }
  chunk.grant.become(chunk.memory.size() + made);
}

std::optional<SampleSweep::Chunk> SampleSweep::claim(const std::stop_token& stop) {
  Chunk chunk;
  std::uint64_t bytes = 0;
  const std::size_t samples_max = growth_ < kMuchGrowth ? kChunkSamples : 1;
  while (chunk.samples.size() < samples_max) {
    if (!has_row_) has_row_ = stream_.next(row_);
    if (has_row_) stop_if_asked(stop_, row_.source->name());
    if (!has_row_) break;
    const std::uint64_t wanted = row_.bytes();
    if (!chunk.samples.empty() && (bytes + wanted > kChunkReadBytes || wanted > memory_.read)) break;
    SweptSample& sample = chunk.samples.emplace_back();
    sample.row = std::exchange(row_, SampleRow());
    has_row_ = false;
    if (wanted > memory_.read && wanted <= usable_memory() / 2) {
      fail(ErrorKind::kMemory,
           "{}: it has {}, more than the {} that the memory budget leaves for one sample; a budget (--memory) of {} is "
           "enough",
           describe(sample.row), format_size(static_cast<double>(wanted)),
           format_size(static_cast<double>(memory_.read)), job_memory_for(wanted, 0, threads_));
    }
    if (wanted > memory_.read) {  // no budget would do
      const Error error(ErrorKind::kLimit, fmt::format("it has {}, more than this machine can hold for one sample",
                                                       format_size(static_cast<double>(wanted))));
      note_unread(sample, error);
      break;
    }
    bytes += wanted;
  }
  if (chunk.samples.empty()) return std::nullopt;
  plan(chunk);
  std::optional<ByteBudget::Grant> grant = budget_.take(memory_for(chunk.bytes) + growth_ * chunk.bytes, stop);
  if (!grant) return std::nullopt;
  chunk.grant = std::move(*grant);
  chunk.turn = turns_.next(stop);
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

void SampleSweep::release(Memory memory) {
  const std::lock_guard lock(mutex_);
  // Those of very large samples are not kept.
  if (memory.size() <= 2 * kChunkReadBytes) spare_.push_back(std::move(memory));
}

// Neighbouring fields of one source are read as one range, headers between them included. No sum wraps: claim() refuses
// samples whose bytes cannot be counted, as it does all that memory cannot hold.
void SampleSweep::plan(Chunk& chunk) const {
  for (const SweptSample& sample : chunk.samples) {
    if (!sample.bad.empty()) continue;
    for (const SampleField& field : sample.row.fields) {
      Range* const last = chunk.ranges.empty() ? nullptr : &chunk.ranges.back();
      const bool may_join = last && field.part.empty() && !last->is_part && last->source == sample.row.source;
      if (may_join && field.offset >= last->end && field.offset - last->end <= last->source->gap_worth_reading()) {
        last->end = end_of(field);
      } else {
        chunk.ranges.push_back({sample.row.source, field.offset, end_of(field), !field.part.empty()});
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
  std::size_t field = 0;
  for (SweptSample& sample : chunk.samples) {
    if (!sample.bad.empty()) continue;
    const std::size_t first = std::exchange(field, field + sample.row.fields.size());
    try {
      read_sample(sample, chunk, first);
    } catch (const Error& error) {
      note_unread(sample, error);
    }
  }
}

/// A range is read with the first of its fields. Where that fails, its fields are read one by one, so that the sample
/// at fault is the one that is named.
void SampleSweep::read_sample(SweptSample& sample, Chunk& chunk, std::size_t first_field) const {
  const MutableBytes memory(chunk.memory.data(), chunk.bytes);
  for (std::size_t i = 0; i < sample.row.fields.size(); ++i) {
    const SampleField& field = sample.row.fields[i];
    Range& range = chunk.ranges[chunk.range_of[first_field + i]];
    if (!std::exchange(range.was_tried, true)) {
      const MutableBytes whole = memory.subspan(range.place, range.end - range.begin);
      range.was_read = !fault_of_data([&] { read_bytes(*range.source, field, range.begin, whole); });
    }
    const MutableBytes bytes = memory.subspan(range.place + field.offset - range.begin, field.length);
    if (!range.was_read) read_bytes(*range.source, field, field.offset, bytes);
    sample.fields.emplace_back(bytes);
  }
}

void SampleSweep::read_bytes(Source& source, const SampleField& field, std::uint64_t begin, MutableBytes into) const {
  if (!field.part.empty() && source.size(field.part) != field.length) {
    fail(ErrorKind::kData, "'{}' has changed since its folder was listed; it had {} then", source.name_of(field.part),
         byte_count(field.length));
  }
  do {
    stop_if_asked(stop_, source.name());
    const MutableBytes piece = into.first(std::min<std::uint64_t>(into.size(), kReadPiece));
    read_fully(source, begin, piece, field.part);
    begin += piece.size();
    into = into.subspan(piece.size());
  } while (!into.empty());
}

void SampleSweep::note_unread(SweptSample& sample, const Error& error) const {
  if (!bad_if_unread_ || !is_about_data(error.kind(), sample.row.source->is_remote())) {
    throw error.with_context(describe(sample.row));
  }
  sample.bad = error.message();
  sample.fields.clear();
  sample.row.facts.reset();
  sample.row.soundness = Soundness::kBad;
}

SweptSample* SampleSweep::next() {
  if (stop_.stop_requested()) fail(ErrorKind::kClosed, "stopped");
  if (next_ == current_.samples.size()) {
    // Before the next is waited for, which may be waiting for this one's bytes.
    release(std::exchange(current_, Chunk()).memory);
    next_ = 0;
    std::optional<Chunk> chunk = producer_.next();
    if (!chunk) return nullptr;
    current_ = std::move(*chunk);
  }
  return &current_.samples[next_++];
}

}  // namespace stoker
