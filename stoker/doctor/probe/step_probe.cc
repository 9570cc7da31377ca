#include "stoker/doctor/probe/step_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/units.h"
#include "stoker/device/accelerator.h"
#include "stoker/runtime/report/step_record.h"

namespace stoker {
namespace {

StepFacts replayed(const StepQuestion& question, const Dataset& dataset, const Recipe& recipe) {
  const KeptStep kept(question.cache_folder, {.data = dataset.fingerprint(), .recipe = recipe.hash()});
  const std::optional<StepRecord> record = kept.load();
  if (!record) {
    fail(ErrorKind::kUsage,
         "there is no recorded training step to replay: first train some steps on these data with this recipe and "
         "Stoker's loader, or give the step in seconds");
  }
  const double factor = static_cast<double>(question.batch) / record->batch;
  StepFacts step;
  step.seconds = {.median = record->median_s * factor,
                  .low = record->low_s * factor,
                  .high = record->high_s * factor,
                  .count = static_cast<int>(std::min<std::int64_t>(record->count, 1'000'000'000))};
  if (record->batch != question.batch) {
    step.seconds.caveat = fmt::format("recorded with batches of {}, and taken in proportion", record->batch);
  }
  const auto age_s = static_cast<double>(std::max<std::int64_t>(std::time(nullptr) - record->recorded_s, 0));
  step.account =
      fmt::format("{} on {}, {} ago", counted(record->count, "step"), record->machine, format_duration(age_s));
  return step;
}

}  // namespace

StepFacts probe_step(const StepQuestion& question, const Dataset& dataset, const Recipe& recipe) {
  StepFacts step;
  if (question.step == kReplayStep) {
    step = replayed(question, dataset, recipe);
  } else {
    const double seconds = accelerator_step_seconds(question.step, question.batch);
    step.seconds = {.median = seconds, .low = seconds, .high = seconds, .count = 1};
  }
  step.source = parse_number<double>(question.step) ? "seconds" : question.step;
  step.batch = question.batch;
  step.gpus = question.gpus;
  return step;
}

}  // namespace stoker
