#include "stoker/doctor/verdict/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/verdict/what_if.h"

namespace stoker {
namespace {

constexpr double kSameStep = 0.01;  // by which steps may differ, relative: reports and command lines round them

std::string difference_of(const MeasuredRun& run, const Facts& facts) {
  if (!run.batch) return "it does not say what its batch and its step were";
  if (*run.batch != facts.run.batch) return fmt::format("its batches have {}, not {}", *run.batch, facts.run.batch);
  if (!facts.step.seconds.known()) return "";
  const double step_s = facts.step.seconds.median;
  if (!run.step_s) return fmt::format("nothing took its batches in steps of {:.3g} s: give it --accelerator", step_s);
  if (std::abs(*run.step_s / step_s - 1) > kSameStep) {
    return fmt::format("its step takes {:.3g} s, not {:.3g}", *run.step_s, step_s);
  }
  const int gpus = std::max(1, facts.step.gpus);
  if (run.accelerators == gpus) return "";
  return fmt::format("it fed {}, not {}", counted(run.accelerators, "accelerator"), gpus);
}

// In the model each GPU has a loader of its own.
Configuration knobs_of_each(const MeasuredRun& run) {
  Configuration knobs = run.knobs;
  for (std::optional<int>* const count : {&knobs.threads, &knobs.prefetch, &knobs.io_depth}) {
    if (*count) *count = std::max(1, **count / std::max(1, run.accelerators));
  }
  return knobs;
}

}  // namespace

Diagnosis diagnose(const Facts& facts, const DiagnosisQuestion& question, const Catalogue& catalogue) {
  Diagnosis diagnosis;
  diagnosis.subject = question.subject;
  diagnosis.commands = question.commands;
  diagnosis.facts = facts;
  diagnosis.now = predict(facts);
  const double now = diagnosis.now.samples_per_s;
  // First, since its text may be wrong.
  for (const std::string& text : question.what_ifs) {
    WhatIf what_if{.text = text, .change = parse_what_if(text, facts, catalogue), .prediction = {}};
    what_if.prediction = predict(facts, what_if.change);
    what_if.gain = now > 0 ? what_if.prediction.samples_per_s / now - 1 : 0;
    diagnosis.what_ifs.push_back(std::move(what_if));
  }
  for (const MeasuredRun& run : question.runs) {
    diagnosis.runs.push_back({run, predict(facts, knobs_of_each(run)).samples_per_s, difference_of(run, facts)});
  }
  diagnosis.verdict = judge(facts, diagnosis.now);
  diagnosis.bad_samples = bad_outlook(facts);
  diagnosis.right_size = right_size(facts, catalogue);
  diagnosis.changes = weigh_changes(facts, diagnosis.now, catalogue, diagnosis.right_size.training);
  diagnosis.by_cores = throughput_by_cores(facts);
  diagnosis.by_index = throughput_by_index(facts);
  return diagnosis;
}

std::string gain_text(double gain) {
  const long percent = std::lround(100 * gain);
  if (percent == 0) return "no change";
  return fmt::format("{}{}%", percent > 0 ? "+" : "-", std::labs(percent));
}

}  // namespace stoker
