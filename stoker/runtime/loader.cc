#include "stoker/runtime/loader.h"

#include "stoker/runtime/engine/engine.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {

Loader::Loader(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options) {
  const Knobs fixed = fixed_knobs(options);
  options = complete_options(*dataset, recipe, std::move(options));
  engine_ = make_shared_at_home<Engine>(std::move(dataset), std::move(recipe), options, fixed);
  engine_->start_threads();
}

// Batches that the consumer still holds keep the engine's memory alive, but not its threads.
Loader::~Loader() {
  if (engine_) engine_->close();
}

const Dataset& Loader::dataset() const { return engine_->dataset(); }
const Recipe& Loader::recipe() const { return engine_->plan().recipe(); }
std::vector<OutputSpec> Loader::outputs() const { return engine_->plan().outputs(); }
std::int64_t Loader::batches_per_epoch() const { return engine_->batches_per_epoch(); }
int Loader::batch_size() const { return engine_->batch_size(); }

void Loader::start_epoch(std::int64_t epoch) { engine_->start_epoch(epoch); }

std::int64_t Loader::next_epoch() const { return engine_->next_epoch(); }
LoaderPosition Loader::position() const { return engine_->position(); }
std::string Loader::state() const { return engine_->state(); }
LoaderPosition Loader::load_state(std::string_view json) { return engine_->load_state(json); }

std::vector<BadSample> Loader::bad_samples() const { return engine_->bad_samples(); }

BatchPtr Loader::next() { return *engine_->next(std::nullopt); }

std::optional<BatchPtr> Loader::next_within(std::chrono::milliseconds patience) {
  return engine_->next(std::chrono::steady_clock::now() + patience);
}

Loader::Epoch Loader::epoch(std::int64_t epoch) {
  start_epoch(epoch);
  return Epoch(this);
}

void Loader::set(const Knobs& knobs) { engine_->set(knobs); }
Metrics Loader::metrics() const { return engine_->metrics(); }
std::string Loader::metrics_address() const { return engine_->metrics_address(); }
int Loader::threads() const { return engine_->threads(); }
int Loader::prefetch() const { return engine_->prefetch(); }
int Loader::transfer_index() const { return engine_->transfer_index(); }
int Loader::io_depth() const { return engine_->io_depth(); }
bool Loader::tunes() const { return engine_->tunes(); }
TuningLog Loader::tuning() const { return engine_->tuning(); }
void Loader::interrupt() { engine_->interrupt(); }
void Loader::close() { engine_->close(); }

}  // namespace stoker
