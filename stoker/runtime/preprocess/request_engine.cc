#include "stoker/runtime/preprocess/request_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/plan/kept_values.h"
#include "stoker/runtime/preprocess/item_read.h"

namespace stoker {
namespace {

// Batches that have come back: some sizes for each thread that may call at the same time.
constexpr int kKeptPerThread = 2;

bool has_places(const Request& request) {
  return std::any_of(request.items.begin(), request.items.end(), [](const RequestItem& item) { return item.place; });
}

SampleDraw draw_of(const Request& request, std::size_t item) {
  return {.seed = request.seed, .epoch = request.epoch, .position = request.position + item, .batch = request.batch};
}

/// What was at work on a sample says what is wrong with it, and this which one it is.
std::exception_ptr naming_sample(std::exception_ptr error, const RequestItem& item, std::size_t number) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& plain) {
    const std::string name = item.place ? fmt::format("'{}'", *item.place) : fmt::format("item {}", number);
    return std::make_exception_ptr(plain.with_context(name));
  } catch (...) {
    return error;
  }
}

/// What the answer says of the items, when all are made: what is wrong with them, or throws the first of that.
void tell_errors(const Request& request, std::span<const std::exception_ptr> errors, Batch& batch) {
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!errors[i]) continue;
    if (!request.keeps_bad) std::rethrow_exception(errors[i]);
    batch.errors.resize(errors.size());
    batch.errors[i] = *fault_of_data([&] { std::rethrow_exception(errors[i]); });
  }
}

void tell_places(const Request& request, Batch& batch) {
  batch.seed = request.seed;
  batch.epoch = static_cast<std::int64_t>(request.epoch);
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const RequestItem& item = request.items[i];
    batch.position[i] = static_cast<std::int64_t>(request.position + i);
    batch.sample[i] = static_cast<std::int64_t>(i);
    batch.key[i] = item.place ? item.place->shown() : std::string();
    batch.substituted_for[i] = -1;
  }
}

}  // namespace

/// A request while it is worked on.
struct RequestEngine::Job {
  Job(const Plan& plan, const Request& asked, RequestBatch& into, std::stop_token wanted)
      : request(asked),
        batch(into),
        stop(std::move(wanted)),
        kept(plan, static_cast<int>(asked.items.size())),
        reads(has_places(asked) ? asked.items.size() : 0),
        errors(asked.items.size()) {}

  bool is_taken() const { return next == request.items.size(); }
  bool has_ended() const { return is_taken() && parts == 0; }

  const Request& request;
  RequestBatch& batch;
  const std::stop_token stop;
  const KeptValues kept;                   // for functions of whole batches
  std::vector<ItemRead> reads;             // by item, where any is at a place
  std::vector<std::exception_ptr> errors;  // by item
  // Guarded by the engine's mutex.
  std::size_t next = 0;
  int parts = 0;  // threads that take part
};

RequestEngine::RequestEngine(const Recipe& recipe, const Options& options)
    : plan_(recipe),
      outputs_vary_(plan_.outputs_vary()),
      batches_(plan_.outputs(), kKeptPerThread * options.threads),
      stores_(options.store) {
  for (int i = 0; i < options.threads; ++i) {
    executors_.push_back(std::make_unique<CpuExecutor>(plan_, options.limits));
    idle_.push_back(executors_.back().get());
  }
  try {
    translate_thread_errors([&] {
      for (int i = 1; i < options.threads; ++i) helpers_.emplace_back([this] { help(); });
    });
  } catch (...) {
    stop_helpers();
    throw;
  }
}

RequestEngine::~RequestEngine() { stop_helpers(); }

void RequestEngine::stop_helpers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void RequestEngine::check(const Request& request) const {
  if (!home_.here()) {
    fail(ErrorKind::kUsage,
         "the preprocessor was made in another process, whose threads are not in this one; make it after the fork");
  }
  for (const RequestItem& item : request.items) {
    if (item.place && plan_.fields().size() != 1) {
      fail(ErrorKind::kUsage, "'{}' is one file, but the recipe reads {}", *item.place,
           plan_.fields().empty() ? "none" : fmt::format("the fields {}", fmt::join(plan_.fields(), ", ")));
    }
    if (!item.place && item.fields.size() != plan_.fields().size()) {
      fail(ErrorKind::kUsage, "an item has {}, but the recipe reads {}", counted(item.fields.size(), "field"),
           counted(plan_.fields().size(), "field"));
    }
  }
}

std::shared_ptr<RequestBatch> RequestEngine::begin_batch(const Request& request) {
  const auto slots = static_cast<int>(request.items.size());
  std::shared_ptr<RequestBatch> batch = batches_.take(slots);
  if (outputs_vary_) {
    batch->begin(slots, plan_.outputs(draw_of(request, 0)));
  } else {
    batch->begin(slots);
  }
  return batch;
}

std::shared_ptr<const Batch> RequestEngine::run(const Request& request, const std::stop_token& stop) {
  check(request);
  const std::shared_ptr<RequestBatch> batch = begin_batch(request);
  Job job(plan_, request, *batch, stop);
  read_and_work(job);
  if (stop.stop_requested()) fail(ErrorKind::kClosed, "the request was stopped");
  tell_errors(request, job.errors, *batch);
  if (!job.kept.empty()) call_functions(job);
  tell_places(request, *batch);
  batch->seal();
  batch->written_ns = now_ns();
  return batch;
}

/// What comes over a network begins to before the first item is made.
void RequestEngine::read_and_work(Job& job) {
  std::vector<Location> distant;
  for (const RequestItem& item : job.request.items) {
    if (item.place && !item.place->is_local()) distant.push_back(*item.place);
  }
  if (job.reads.empty()) return work_on(job);
  const std::shared_ptr<StoreAccess::Open> open = stores_.get();
  const std::stop_callback on_stop(job.stop, [&] { open->stop.request_stop(); });
  open->stores.expect(distant);
  for (std::size_t i = 0; i < job.reads.size(); ++i) {
    if (const Location* place = job.request.items[i].place) job.reads[i].start(open->stores, *place, job.stop);
  }
  work_on(job);
}

/// Until it has ended, with the helpers.
void RequestEngine::work_on(Job& job) {
  std::unique_lock lock(mutex_);
  if (job.request.items.size() > 1 && !helpers_.empty()) {
    jobs_.push_back(&job);
    work_.notify_all();
  }
  changed_.wait(lock, [&] { return !idle_.empty() || job.has_ended(); });
  if (!job.is_taken()) take_part(job, lock);
  changed_.wait(lock, [&] { return job.has_ended(); });
}

void RequestEngine::help() {
  name_this_thread("stoker-help");
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || (!jobs_.empty() && !idle_.empty()); });
    if (stopping_) return;
    take_part(*jobs_.front(), lock);
  }
}

/// Works on the job until its items are taken. There is an executor.
void RequestEngine::take_part(Job& job, std::unique_lock<std::mutex>& lock) {
  CpuExecutor& executor = *idle_.back();
  idle_.pop_back();
  ++job.parts;
  while (!job.is_taken()) {
    const std::size_t number = job.next++;
    if (job.is_taken()) std::erase(jobs_, &job);
    lock.unlock();
    make(job, number, executor);
    lock.lock();
  }
  --job.parts;
  idle_.push_back(&executor);
  if (!jobs_.empty()) work_.notify_one();
  changed_.notify_all();
}

/// Those of whole batches, for all items at once.
void RequestEngine::call_functions(Job& job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !idle_.empty(); });
  CpuExecutor& executor = *idle_.back();
  idle_.pop_back();
  lock.unlock();
  const std::exception_ptr error = thrown_by([&] {
    executor.run_batch({.slots = job.batch.size(),
                        .draw = draw_of(job.request, 0),
                        .kept = [&](std::size_t view) { return job.kept.first(view, job.batch.size()); },
                        .given = [&](std::size_t output) { return job.batch.output(output).data; }});
  });
  lock.lock();
  idle_.push_back(&executor);
  if (!jobs_.empty()) work_.notify_one();
  changed_.notify_all();
  lock.unlock();
  if (error) std::rethrow_exception(error);
  for (int slot = 0; slot < job.batch.size(); ++slot) {
    if (!job.batch.valid(slot)) job.batch.pad(slot);
  }
}

void RequestEngine::make(Job& job, std::size_t number, CpuExecutor& executor) const {
  const RequestItem& item = job.request.items[number];
  const auto slot = static_cast<int>(number);
  Bytes read;
  SampleInput input{.fields = item.fields, .label = item.label, .draw = draw_of(job.request, number)};
  std::exception_ptr& error = job.errors[number];
  error = thrown_by([&] {
    if (job.stop.stop_requested()) fail(ErrorKind::kClosed, "the request was stopped");
    if (!item.place) return;
    read = job.reads[number].bytes();
    input.fields = {&read, 1};
  });
  if (!error) {
    error = thrown_by([&] {
      executor.run(input, [&](std::size_t view, const Shape& shape) {
        return view < plan_.output_count() ? job.batch.place(view, slot, shape) : job.kept.place(view, slot);
      });
    });
    if (error) error = naming_sample(error, item, number);
  }
  if (error) {
    job.batch.pad(slot);
    job.kept.pad(slot);
  }
  job.batch.status[number] = error ? SlotStatus::kBad : SlotStatus::kGood;
}

}  // namespace stoker
