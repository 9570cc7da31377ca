#include "stoker/doctor/verdict/diagnosis.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/verdict/what_if.h"

namespace stoker {

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
    diagnosis.runs.push_back({run, predict(facts, run.knobs).samples_per_s});
  }
  diagnosis.verdict = judge(facts, diagnosis.now);
  diagnosis.changes = weigh_changes(facts, diagnosis.now, catalogue);
  diagnosis.right_size = right_size(facts, catalogue);
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
