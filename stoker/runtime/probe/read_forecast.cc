#include "stoker/runtime/probe/read_forecast.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "stoker/base/error.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/engine/read_plan.h"

namespace stoker {
namespace {

// Shards, and what lies apart in them, are so far from each other that no request reads both.
constexpr std::uint64_t kShardSpan = std::uint64_t{1} << 44, kApart = std::uint64_t{1} << 43;

constexpr std::size_t kReadsFew = 64;  // under way, as the reader has it (reader.cc)

// What is counted at least, after the beginning: tickets, and times that a read takes.
constexpr double kTicketsLeast = 4096, kTimesLeast = 8;
constexpr double kEpochWhole = 32768;

/// What the read plan wants to know of a store.
class ForecastSource final : public Source {
 public:
  explicit ForecastSource(const SampleLayout& layout)
      : gap_(layout.gap_worth_reading), unit_(layout.unit), remote_(layout.remote) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view /*part*/) const override { return UINT64_MAX; }
  void start(ReadRequest& request) override {
    request.error = thrown_by([&] { fail(ErrorKind::kIo, "'{}' is not there to be read", name_); });
    request.done(request);
  }
  std::uint64_t gap_worth_reading() const override { return gap_; }
  std::uint64_t alignment() const override { return unit_; }
  bool is_remote() const override { return remote_; }

 private:
  const std::string name_ = "forecast";
  const std::uint64_t gap_, unit_;
  const bool remote_;
};

std::uint64_t whole_units(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::uint64_t end_of(const SampleLayout::Sample& sample, bool apart) {
  std::uint64_t end = 0;
  for (const SampleLayout::Range& range : sample.ranges) {
    if (range.apart == apart) end = std::max(end, range.begin + range.length);
  }
  return end;
}

void add_stretch(std::vector<SampleLayout::Sample> stretch, SampleLayout& layout) {
  for (const bool apart : {false, true}) {
    std::uint64_t first = UINT64_MAX, end = 0;
    for (const SampleLayout::Sample& sample : stretch) {
      for (const SampleLayout::Range& range : sample.ranges) {
        if (range.apart == apart) first = std::min(first, range.begin);
      }
      end = std::max(end, end_of(sample, apart));
    }
    if (first >= end) continue;
    first -= first % layout.unit;  // where a unit begins stays so
    std::uint64_t& span = apart ? layout.span_apart : layout.span;
    for (SampleLayout::Sample& sample : stretch) {
      for (SampleLayout::Range& range : sample.ranges) {
        if (range.apart == apart) range.begin = range.begin - first + span;
      }
    }
    // What lies between two samples is also between two stretches.
    span += whole_units((end - first) + (end - first) / (16 * stretch.size()), layout.unit);
  }
  std::move(stretch.begin(), stretch.end(), std::back_inserter(layout.samples));
}

/// Samples in the loader's order, each with the reads that it takes, in a read-ahead without memory.
class Drawing {
 public:
  Drawing(const SampleLayout& layout, const BoardOptions& board, std::size_t at_once);

  ReadForecast run();

 private:
  /// What was done before some time.
  struct Count {
    double now = 0, samples = 0, requests = 0, bytes = 0, requests_apart = 0, bytes_apart = 0;
  };
  struct Drawn {
    SampleLayout::Sample layout{};
    std::vector<SampleField> fields;
    Ticket ticket;
  };

  void draw_sample(Ticket& ticket);
  void place(Drawn& drawn);
  bool is_kept(std::uint64_t shard, std::uint64_t offset) const;
  bool draw_to(std::uint64_t end);
  void look();
  void start_reads();
  PlannedRead& end_read();
  std::uint64_t front() const { return tickets_.empty() ? drawn_end_ : tickets_.front()->ticket.grant.place; }

  const SampleLayout& layout_;
  const BoardOptions& board_;
  ForecastSource source_;
  std::vector<std::int64_t> shard_begins_;
  double kept_apart_ = 0;  // the part of what lies apart that was read before
  EpochOrder order_;
  std::int64_t epoch_ = 0, batch_ = 0;
  int slot_ = 0;
  std::deque<std::unique_ptr<Drawn>> tickets_;
  std::uint64_t ahead_ = 0, near_ = 0;            // the read-ahead, and what of it is read at once
  std::uint64_t drawn_end_ = 0, planned_to_ = 0;  // in the read-ahead, as if that went on for ever
  bool plan_waits_ = false;
  struct UnderWay {
    PlannedRead* read;
    double ends;
  };
  const std::size_t at_once_;
  std::deque<PlannedRead*> waiting_;  // for others to end
  std::deque<UnderWay> under_way_;
  double now_ = 0;   // in the times that a read takes
  double done_ = 0;  // samples
  ReadPlan plan_;
  BatchWork work_;  // which the tickets are of
};

Drawing::Drawing(const SampleLayout& layout, const BoardOptions& board, std::size_t at_once)
    : layout_(layout), board_(board), source_(layout), order_(board.order, 0), at_once_(at_once) {
  std::int64_t begin = 0;
  if (board.order.shard_samples) {
    for (const std::int64_t samples : *board.order.shard_samples) {
      shard_begins_.push_back(begin);
      begin += samples;
    }
  }
  const double apart = static_cast<double>(layout.span_apart) / static_cast<double>(layout.samples.size()) *
                       static_cast<double>(board.order.samples);
  kept_apart_ = apart > 0 ? std::min(1.0, static_cast<double>(board.entry_points_bytes) / apart) : 0;
}

/// Whether a place, apart from the samples, is in one of the chunks that are kept.
bool Drawing::is_kept(std::uint64_t shard, std::uint64_t offset) const {
  constexpr std::uint64_t kParts = 1009;
  const std::uint64_t part = (offset / KeptChunks::kChunkBytes + 17 * shard) * 31 % kParts;
  return static_cast<double>(part) < kept_apart_ * static_cast<double>(kParts);
}

void Drawing::draw_sample(Ticket& ticket) {
  for (;;) {
    if (batch_ >= order_.batches_of(board_.slice)) {
      batch_ = 0;
      order_ = EpochOrder(board_.order, ++epoch_);
    }
    if (slot_ >= order_.slots_of(board_.slice, batch_)) {
      slot_ = 0;
      ++batch_;
      continue;
    }
    const std::int64_t position = board_.slice.position(batch_, slot_++);
    const std::optional<std::int64_t> sample = order_.sample_at(position);
    if (!sample) continue;
    ticket.sample = *sample;
    ticket.early = order_.window_began_by(position, 0);
    return;
  }
}

void Drawing::place(Drawn& drawn) {
  draw_sample(drawn.ticket);
  const std::int64_t sample = drawn.ticket.sample;
  const auto after = std::upper_bound(shard_begins_.begin(), shard_begins_.end(), sample);
  const auto shard = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(after - shard_begins_.begin() - 1, 0));
  const std::int64_t in_shard = shard_begins_.empty() ? sample : sample - shard_begins_[shard];
  const auto pattern = static_cast<std::int64_t>(layout_.samples.size());
  const auto round = static_cast<std::uint64_t>(in_shard / pattern);
  drawn.layout = layout_.samples[static_cast<std::size_t>(in_shard % pattern)];
  std::erase_if(drawn.layout.ranges, [&](const SampleLayout::Range& range) {
    return range.apart && is_kept(shard, round * layout_.span_apart + range.begin);
  });
  drawn.fields.resize(drawn.layout.ranges.size());
  drawn.ticket.work = &work_;
  drawn.ticket.grant.place = drawn_end_;
  drawn.ticket.reads.resize(drawn.fields.size());
  for (std::size_t i = 0; i < drawn.fields.size(); ++i) {
    const SampleLayout::Range& range = drawn.layout.ranges[i];
    const std::uint64_t base = range.apart ? kApart + round * layout_.span_apart : round * layout_.span;
    drawn.fields[i].offset = shard * kShardSpan + base + range.begin;
    drawn.fields[i].length = range.length;
    if (layout_.loose) drawn.fields[i].part = "loose";
    FieldRead& read = drawn.ticket.reads[i];
    read.field = &drawn.fields[i];
    read.length = range.length;
    read.source = &source_;
    read.bytes = hole(static_cast<std::size_t>(range.length));
    read.ticket = &drawn.ticket;
  }
  drawn.ticket.reads_pending = static_cast<int>(drawn.fields.size());
}

/// Returns whether any were drawn.
bool Drawing::draw_to(std::uint64_t end) {
  const std::uint64_t before = drawn_end_;
  while (drawn_end_ < end) {
    auto drawn = std::make_unique<Drawn>();
    place(*drawn);
    drawn_end_ += std::max<std::uint64_t>(drawn->layout.bytes, 1);
    plan_.add(drawn->ticket);
    tickets_.push_back(std::move(drawn));
  }
  return drawn_end_ > before;
}

/// Draws and plans as the reader does when a read has ended (Reader::wake_if_room(), reads_due(), start_reads()).
void Drawing::look() {
  const bool runs_dry = waiting_.empty() && under_way_.size() < kReadsFew;
  const bool is_busy = waiting_.size() > at_once_ / 2;
  const bool is_near = plan_waits_ || runs_dry || front() + near_ >= planned_to_ + near_ / 4;
  const bool due = plan_.waiting() && !is_busy && is_near;
  const bool has_room = drawn_end_ - front() + near_ / 4 <= ahead_;
  if (!due && !has_room && !under_way_.empty()) return;
  if (!draw_to(front() + ahead_) && !due) return;
  plan_waits_ = is_busy;
  if (is_busy) return;
  const std::uint64_t further = runs_dry ? planned_to_ + near_ / 4 : 0;
  planned_to_ = std::max(front() + near_, std::min(further, front() + ahead_));
  for (PlannedRead* const read : plan_.plan(planned_to_)) waiting_.push_back(read);
}

void Drawing::start_reads() {
  for (; !waiting_.empty() && under_way_.size() < at_once_; waiting_.pop_front()) {
    under_way_.push_back({waiting_.front(), now_ + 1});
  }
}

/// The read that was begun first ends; what is before the front was read, and nothing points to it.
PlannedRead& Drawing::end_read() {
  PlannedRead& read = *under_way_.front().read;
  now_ = under_way_.front().ends;
  under_way_.pop_front();
  for (FieldRead *field = read.fields, *next = nullptr; field; field = next) {
    next = field->next;
    --field->ticket->reads_pending;
  }
  while (!tickets_.empty() && tickets_.front()->ticket.reads_pending == 0) {
    tickets_.pop_front();
    ++done_;
  }
  return read;
}

/// As a reader does that always waits for its store: what was read makes room for what is drawn next.
ReadForecast Drawing::run() {
  std::uint64_t sum = 0;
  for (const SampleLayout::Sample& sample : layout_.samples) sum += sample.bytes;
  const double mean = std::max(1.0, static_cast<double>(sum) / static_cast<double>(layout_.samples.size()));
  const std::int64_t batches = (board_.tickets.prefetch + std::int64_t{1}) * board_.slice.batch;
  const std::int64_t tickets = std::max(board_.tickets.tickets_ahead, batches);
  ahead_ =
      std::min<std::uint64_t>(board_.read_ahead.bytes, static_cast<std::uint64_t>(static_cast<double>(tickets) * mean));
  near_ = std::min<std::uint64_t>(board_.read_ahead.near_bytes, ahead_);
  // A short epoch counts as a whole: its beginning, where no window is read together, is a good part of it.
  const double epoch = static_cast<double>(board_.order.samples) / board_.slice.world;
  const double step = epoch <= kEpochWhole ? epoch : 1;
  const auto in_steps = [&](double samples) { return std::ceil(samples / step) * step; };
  const double warm = in_steps(static_cast<double>(ahead_) / mean), until = warm + in_steps(warm + kTicketsLeast);
  Count count, first, last;
  while (done_ < until || last.now - first.now < kTimesLeast) {
    look();
    start_reads();
    if (under_way_.empty()) break;
    const PlannedRead& next = *under_way_.front().read;
    if (under_way_.front().ends > now_) {  // many end at a time, and are counted together
      last = count;
      if (done_ < warm) first = count;
    }
    const std::uint64_t before = next.request.offset % layout_.unit;
    const auto bytes = static_cast<double>(whole_units(before + next.request.length(), layout_.unit));
    count.requests += 1;
    count.bytes += bytes;
    if (next.request.offset % kShardSpan >= kApart) {
      count.requests_apart += 1;
      count.bytes_apart += bytes;
    }
    PlannedRead& read = end_read();
    count.now = now_;
    count.samples = done_;
    read.next = nullptr;
    plan_.release(&read);
  }
  const double samples = std::max(last.samples - first.samples, 1.0), requests = last.requests - first.requests;
  return {.requests = requests / samples,
          .bytes = (last.bytes - first.bytes) / samples,
          .requests_apart = (last.requests_apart - first.requests_apart) / samples,
          .bytes_apart = (last.bytes_apart - first.bytes_apart) / samples,
          .requests_ahead = requests / std::max(last.now - first.now, 1.0)};
}

}  // namespace

SampleLayout lay_out(const Dataset& dataset, const BoardOptions& board, const std::vector<std::int64_t>& begins,
                     std::int64_t each) {
  const SampleLocator locator(dataset, board.locator);
  SampleLayout layout;
  BatchWork work;
  Ticket ticket;
  ticket.work = &work;
  for (const std::int64_t begin : begins) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = begin; i < std::min(begin + each, dataset.size()); ++i) numbers.push_back(i);
    dataset.prepare(numbers);
    std::vector<SampleLayout::Sample> stretch;
    const Source* source = nullptr;
    for (const std::int64_t number : numbers) {
      ticket.sample = ticket.position = number;
      ticket.error = nullptr;
      locator.locate(ticket);
      if (ticket.error || (source && ticket.row.source != source)) continue;
      source = ticket.row.source;
      SampleLayout::Sample sample{.ranges = {}, .bytes = ticket.bytes};
      for (const FieldRead& read : ticket.reads) {
        const bool apart = read.field == &ticket.row.entry_points;
        // Those of an index on this machine are read by way of the page cache.
        if (apart && source->is_remote() && !ticket.row.entry_points_source->is_remote()) continue;
        sample.ranges.push_back({read.field->offset + read.begin, read.length, apart});
        layout.loose |= !read.field->part.empty();
      }
      stretch.push_back(std::move(sample));
    }
    if (!source) continue;
    layout.gap_worth_reading = source->gap_worth_reading();
    layout.unit = source->alignment();
    layout.remote = source->is_remote();
    add_stretch(std::move(stretch), layout);
  }
  if (layout.samples.empty()) fail(ErrorKind::kData, "none of the samples that were looked at can be read");
  return layout;
}

BoardOptions forecast_board(const Dataset& dataset, const Recipe& recipe, const Plan& plan, LoaderOptions options) {
  options.tail = Tail::kWrap;
  ResolvedOptions resolved = resolve_sizes(dataset, recipe, options);
  resolved.memory = std::max(resolved.memory, least_memory(dataset, plan, resolved).total());
  return board_options(dataset, plan, resolved, plan_memory(dataset, plan, resolved));
}

ReadForecast forecast_reads(const SampleLayout& layout, const BoardOptions& board, int at_once) {
  return Drawing(layout, board, static_cast<std::size_t>(std::max(at_once, 1))).run();
}

}  // namespace stoker
