#include "stoker/runtime/probe/read_forecast.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "stoker/base/error.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/engine/read_plan.h"

namespace stoker {
namespace {

// Shards, and what lies apart in them, are so far from each other that no request reads both.
constexpr std::uint64_t kShardSpan = std::uint64_t{1} << 44, kApart = std::uint64_t{1} << 43;

constexpr double kReadsFew = 64;  // under way, for a store over a network

constexpr std::int64_t kTicketsLeast = 4096;  // that are counted

/// What the read plan wants to know of a store.
class ForecastSource final : public Source {
 public:
  explicit ForecastSource(std::uint64_t gap) : gap_(gap) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view /*part*/) const override { return UINT64_MAX; }
  void start(ReadRequest& request) override {
    request.error = thrown_by([&] { fail(ErrorKind::kIo, "'{}' is not there to be read", name_); });
    request.done(request);
  }
  std::uint64_t gap_worth_reading() const override { return gap_; }
  bool is_remote() const override { return true; }

 private:
  const std::string name_ = "forecast";
  const std::uint64_t gap_;
};

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
    std::uint64_t& span = apart ? layout.span_apart : layout.span;
    for (SampleLayout::Sample& sample : stretch) {
      for (SampleLayout::Range& range : sample.ranges) {
        if (range.apart == apart) range.begin = range.begin - first + span;
      }
    }
    // What lies between two samples is also between two stretches.
    span += (end - first) + (end - first) / (16 * stretch.size());
  }
  std::move(stretch.begin(), stretch.end(), std::back_inserter(layout.samples));
}

/// Samples in the loader's order, each with the reads that it takes, in a read-ahead without memory.
class Drawing {
 public:
  Drawing(const SampleLayout& layout, const BoardOptions& board);

  ReadForecast run();

 private:
  struct Drawn {
    SampleLayout::Sample layout{};
    std::vector<SampleField> fields;
    Ticket ticket;
  };

  std::int64_t next_sample();
  void place(std::int64_t sample, Drawn& drawn);
  void draw_to(std::uint64_t end);
  void count(std::span<PlannedRead* const> reads, ReadForecast& forecast) const;

  const SampleLayout& layout_;
  const BoardOptions& board_;
  ForecastSource source_;
  std::vector<std::int64_t> shard_begins_;
  EpochOrder order_;
  std::int64_t epoch_ = 0, batch_ = 0;
  int slot_ = 0;
  std::deque<std::unique_ptr<Drawn>> tickets_;
  std::uint64_t drawn_end_ = 0;  // of the read-ahead, as if that went on for ever
  ReadPlan plan_;
  BatchWork work_;  // which the tickets are of
};

Drawing::Drawing(const SampleLayout& layout, const BoardOptions& board)
    : layout_(layout), board_(board), source_(layout.gap_worth_reading), order_(board.order, 0) {
  std::int64_t begin = 0;
  if (board.order.shard_samples) {
    for (const std::int64_t samples : *board.order.shard_samples) {
      shard_begins_.push_back(begin);
      begin += samples;
    }
  }
}

std::int64_t Drawing::next_sample() {
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
    if (const auto sample = order_.sample_at(board_.slice.position(batch_, slot_++))) return *sample;
  }
}

void Drawing::place(std::int64_t sample, Drawn& drawn) {
  const auto after = std::upper_bound(shard_begins_.begin(), shard_begins_.end(), sample);
  const auto shard = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(after - shard_begins_.begin() - 1, 0));
  const std::int64_t in_shard = shard_begins_.empty() ? sample : sample - shard_begins_[shard];
  const auto pattern = static_cast<std::int64_t>(layout_.samples.size());
  const auto round = static_cast<std::uint64_t>(in_shard / pattern);
  drawn.layout = layout_.samples[static_cast<std::size_t>(in_shard % pattern)];
  drawn.fields.resize(drawn.layout.ranges.size());
  drawn.ticket.work = &work_;
  drawn.ticket.sample = sample;
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
}

void Drawing::draw_to(std::uint64_t end) {
  while (drawn_end_ < end) {
    auto drawn = std::make_unique<Drawn>();
    place(next_sample(), *drawn);
    drawn_end_ += std::max<std::uint64_t>(drawn->layout.bytes, 1);
    plan_.add(drawn->ticket);
    tickets_.push_back(std::move(drawn));
  }
}

void Drawing::count(std::span<PlannedRead* const> reads, ReadForecast& forecast) const {
  for (const PlannedRead* const read : reads) {
    forecast.requests += 1;
    forecast.bytes += static_cast<double>(read->request.length());
  }
}

/// As a reader does that always waits for its store: what was read makes room for what is drawn next.
ReadForecast Drawing::run() {
  std::uint64_t sum = 0;
  for (const SampleLayout::Sample& sample : layout_.samples) sum += sample.bytes;
  const double mean = std::max(1.0, static_cast<double>(sum) / static_cast<double>(layout_.samples.size()));
  const auto in_tickets = [&](std::uint64_t bytes) { return static_cast<double>(bytes) / mean; };
  const std::int64_t batches = (board_.tickets.prefetch + std::int64_t{1}) * board_.slice.batch;
  const double tickets = static_cast<double>(std::max(board_.tickets.tickets_ahead, batches));
  const std::uint64_t ahead = std::min(board_.read_ahead.bytes, static_cast<std::size_t>(tickets * mean));
  const std::uint64_t near = std::min<std::uint64_t>(board_.read_ahead.near_bytes, ahead);
  const std::uint64_t step = std::max<std::uint64_t>(near / 4, 1);
  const auto counted = std::max(ahead, static_cast<std::uint64_t>(static_cast<double>(kTicketsLeast) * mean));
  ReadForecast forecast;
  for (std::uint64_t front = 0; front < ahead + counted; front += step) {
    draw_to(front + ahead);
    const std::span<PlannedRead* const> reads = plan_.plan(front + near);
    if (front >= ahead) count(reads, forecast);
    PlannedRead* ended = nullptr;
    for (PlannedRead* const read : reads) {
      read->next = ended;
      ended = read;
    }
    plan_.release(ended);
    // What is before the front was read, and nothing points to it.
    while (!tickets_.empty() && tickets_.front()->ticket.grant.place < front) tickets_.pop_front();
  }
  const double samples = in_tickets(counted);
  forecast.requests /= samples;
  forecast.bytes /= samples;
  forecast.requests_ahead = forecast.requests * in_tickets(near);
  const double all = forecast.requests * in_tickets(ahead);  // which a reader whose store has little to do turns to
  forecast.requests_ahead = std::max({1.0, forecast.requests_ahead, std::min(all, kReadsFew)});
  return forecast;
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
        sample.ranges.push_back({read.field->offset + read.begin, read.length, apart});
        layout.loose |= !read.field->part.empty();
      }
      stretch.push_back(std::move(sample));
    }
    if (!source) continue;
    layout.gap_worth_reading = source->gap_worth_reading();
    add_stretch(std::move(stretch), layout);
  }
  if (layout.samples.empty()) fail(ErrorKind::kData, "none of the samples that were looked at can be read");
  return layout;
}

ReadForecast forecast_reads(const SampleLayout& layout, const BoardOptions& board) {
  return Drawing(layout, board).run();
}

}  // namespace stoker
