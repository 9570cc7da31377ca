#include "stoker/runtime/report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// Rows, in the order in which they are shown; each kind has as many as it needs.
constexpr int kConsumerRow = 1, kDeviceRow = 2, kBatchRows = 100, kWorkerRows = 10'000, kReadRows = 20'000;

// The parts of a batch's life, each until the time of its place in parts_ns.
constexpr std::array<std::string_view, 5> kBatchParts = {"reading", "working", "handing over", "ready", "in use"};

/// One event of the file.
struct Span {
  std::int64_t begin_ns, end_ns;
  int row;
  int depth;  // of those that begin together, the outer one comes first
  std::string_view name;
  const TraceEvent* event;
};

std::string_view name_of(TraceKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {"sample", "mix",   "functions", "batch memory", "hand over",
                                                       "read",   "batch", "kernels",   "wait",         "step"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Gives each event a row in which nothing else goes on meanwhile: as few rows as there ever are at once. The events
// must be sorted by their beginnings.
std::vector<int> rows_of(const std::vector<const TraceEvent*>& events) {
  using Free = std::pair<std::int64_t, int>;  // from when on, the row
  std::priority_queue<int, std::vector<int>, std::greater<>> free;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> taken;
  std::vector<int> rows;
  int count = 0;
  for (const TraceEvent* const event : events) {
    for (; !taken.empty() && taken.top().first <= event->begin_ns; taken.pop()) free.push(taken.top().second);
    int row = count;
    if (free.empty()) {
      ++count;
    } else {
      row = free.top();
      free.pop();
    }
    rows.push_back(row);
    taken.emplace(event->end_ns, row);
  }
  return rows;
}

std::vector<const TraceEvent*> sorted_of(const TraceEvents& events, std::initializer_list<TraceKind> kinds) {
  std::vector<const TraceEvent*> found;
  for (const TraceEvent& event : events.events()) {
    if (std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end()) found.push_back(&event);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->begin_ns < b->begin_ns; });
  return found;
}

std::string args_of(const TraceEvent& event) {
  switch (event.kind) {
    case TraceKind::kRead: return fmt::format(R"("bytes":{},"fields":{})", event.number, event.batch);
    case TraceKind::kMemory: return "";
    case TraceKind::kSample: {
      std::string text = fmt::format(R"("epoch":{},"batch":{},"position":{})", event.epoch, event.batch, event.number);
      for (std::size_t run = 0; run < event.parts_ns.size(); ++run) {
        if (event.parts_ns[run] == 0) continue;
        text +=
            fmt::format(R"(,"{} us":{:.1f})", kStageRuns[run].name, static_cast<double>(event.parts_ns[run]) * 1e-3);
      }
      return text;
    }
    default: return fmt::format(R"("epoch":{},"batch":{})", event.epoch, event.batch);
  }
}

/// The rows of a file, and what stands in them.
class TraceRows {
 public:
  TraceRows(int rank, const std::string& process) : rank_(rank) {
    const std::string name = nlohmann::json(process).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    names_ =
        fmt::format("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},\n", rank, name);
  }

  void name(int row, std::string_view name) {
    names_ += fmt::format(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":\"{2}\"}}}},\n"
        "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},\"args\":{{\"sort_index\":{1}}}}},\n",
        rank_, row, name);
  }
  void add(int row, const TraceEvent& event) {
    spans_.push_back({event.begin_ns, event.end_ns, row, 0, name_of(event.kind), &event});
  }

  /// Events of one thread.
  void add_row(int row, std::string_view name, const std::vector<const TraceEvent*>& events) {
    if (events.empty()) return;
    this->name(row, name);
    for (const TraceEvent* const event : events) add(row, *event);
  }

  /// Events that overlap: in as many rows as there ever are at once.
  void add_rows(int first, std::string_view name, const std::vector<const TraceEvent*>& events) {
    const std::vector<int> rows = rows_of(events);
    int named = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      for (; named <= rows[i]; ++named) this->name(first + named, fmt::format("{} {}", name, named));
      add(first + rows[i], *events[i]);
      if (events[i]->kind == TraceKind::kBatch) add_parts(*events[i], first + rows[i]);
    }
  }

  void write(std::int64_t zero_ns, std::int64_t dropped, AtomicFile& file) {
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return std::tie(a.begin_ns, a.row, a.depth) < std::tie(b.begin_ns, b.row, b.depth);
    });
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-3; };
    std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + names_;
    for (const Span& span : spans_) {
      text += fmt::format(
          "{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{{}}}}},\n",
          span.name, rank_, span.row, us(span.begin_ns - zero_ns), us(span.end_ns - span.begin_ns),
          args_of(*span.event));
      if (text.size() < kPieceBytes) continue;
      file.write(as_bytes(text));
      text.clear();
    }
    // A last event ends the list, since JSON knows no comma after the last element.
    text += fmt::format(
        "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},\"args\":{{\"sort_index\":{0}}}}}\n],\n"
        "\"otherData\":{{\"dropped_events\":{1}}}}}\n",
        rank_, dropped);
    file.write(as_bytes(text));
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  void add_parts(const TraceEvent& batch, int row) {
    std::int64_t begin_ns = batch.begin_ns;
    for (std::size_t part = 0; part < kBatchParts.size(); ++part) {
      const std::int64_t end_ns = std::max(batch.parts_ns[part], begin_ns);
      if (end_ns > begin_ns) spans_.push_back({begin_ns, end_ns, row, 1, kBatchParts[part], &batch});
      begin_ns = end_ns;
    }
  }

  const int rank_;
  std::string names_;
  std::vector<Span> spans_;
};

}  // namespace

Trace::Trace(TraceOptions options)
    : options_(std::move(options)),
      begin_ns_(now_ns()),
      file_(std::in_place, options_.path),
      shared_(options_.other_events),
      consumer_(options_.other_events) {}

void Trace::have_workers(int count) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (!workers_[i]) workers_[i] = std::make_unique<TraceEvents>(options_.worker_events);
  }
}

void Trace::write_events(AtomicFile& file) const {
  using enum TraceKind;
  std::int64_t dropped = shared_.dropped() + consumer_.dropped();
  TraceRows rows(options_.rank, options_.process);
  rows.add_row(kConsumerRow, "consumer", sorted_of(consumer_, {kWait, kStep}));
  rows.add_row(kDeviceRow, "device", sorted_of(consumer_, {kDevice}));
  rows.add_rows(kBatchRows, "batch", sorted_of(shared_, {kBatch}));
  for (std::size_t worker = 0; worker < workers_.size() && workers_[worker]; ++worker) {
    dropped += workers_[worker]->dropped();
    rows.add_row(kWorkerRows + static_cast<int>(worker), fmt::format("worker {}", worker),
                 sorted_of(*workers_[worker], {kSample, kMix, kCall, kMemory, kHandedOver}));
  }
  rows.add_rows(kReadRows, "read", sorted_of(shared_, {kRead}));
  rows.write(begin_ns_, dropped, file);
  if (dropped > 0) {
    log(LogLevel::kWarning, "the trace '{}' has the last events only: {} earlier ones were dropped", options_.path,
        format_count(static_cast<std::uint64_t>(dropped)));
  }
}

void Trace::write() {
  if (!file_) return;
  write_events(*file_);
  file_->commit();
  file_.reset();
}

TraceEvent batch_event(std::int64_t epoch, std::int64_t index, const BatchTimes& times, std::int64_t released_ns) {
  return {.kind = TraceKind::kBatch,
          .begin_ns = times.drawn_ns,
          .end_ns = std::max(released_ns, times.drawn_ns),
          .epoch = epoch,
          .batch = index,
          .parts_ns = {times.read_ns, times.written_ns, times.sealed_ns, times.delivered_ns, released_ns}};
}

}  // namespace stoker
