// All that the doctor measures: its probes, one after another.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/user_cache.h"
#include "stoker/doctor/facts.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/open.h"

namespace stoker {

struct MeasureOptions {
  std::vector<std::string> data;           // as the user wrote it
  std::shared_ptr<const Dataset> dataset;  // what it opened as
  OpenOptions open{};                      // and how
  Recipe recipe{};
  LoaderOptions loader{};  // of the run that is asked about; with the device that it feeds, if any
  std::string step{};      // seconds, a profile's name, or "replay"; empty: how fast the training takes samples is not
                           // known, and Facts::step neither
  int gpus = 1;            // of the node, each with a batch of its own
  bool quick = false;      // under 1 minute, else under 10
  double time_share = 1;   // of that: less in tests, which need no good figures
  std::stop_token stop{};  // requested to stop early
  /// Called by the calling thread before each probe, "storage", the third of eight (done = 2), and once at the end with
  /// an empty name.
  std::function<void(std::string_view probe, int done, int of)> progress{};
  std::string cache_folder = user_cache_folder();  // where trainings leave their steps
};

/// It only reads the data, and leaves nothing behind. The process should do nothing else meanwhile. Throws kUsage for
/// options that make no sense, and for a step to be replayed that no training has left; kData for a data set without
/// good samples, or one from which no batch can be made; kIo for storage that fails; kClosed when stopped.
Facts measure(const MeasureOptions& options);

}  // namespace stoker
