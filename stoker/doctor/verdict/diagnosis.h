// The doctor's whole answer, made from facts: the terminal, JSON and the page tell it, each in its own way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"
#include "stoker/doctor/model/prediction.h"
#include "stoker/doctor/verdict/bad_outlook.h"
#include "stoker/doctor/verdict/catalogue.h"
#include "stoker/doctor/verdict/changes.h"
#include "stoker/doctor/verdict/curves.h"
#include "stoker/doctor/verdict/right_size.h"
#include "stoker/doctor/verdict/verdict.h"

namespace stoker {

/// What a run really did: to be compared with what is predicted for its knobs.
struct MeasuredRun {
  std::string name;       // "run.json"
  Configuration knobs{};  // threads, prefetch, I/O depth, transfer index
  double samples_per_s = 0;
  std::optional<int> batch{};      // absent: it does not say
  std::optional<double> step_s{};  // absent: nothing took its batches at a step's pace
  int accelerators = 1;            // that took a batch each, all of them from one loader
};

struct WhatIf {
  std::string text;  // as it was asked
  Configuration change;
  Prediction prediction;
  double gain = 0;  // relative, of samples a second
};

struct ComparedRun {
  MeasuredRun run;
  double predicted_samples_per_s = 0;

  std::string differs{};  // a phrase: why it is not the run that is predicted, if so

  bool comparable() const { return differs.empty(); }
  /// Of what is predicted, if it is comparable.
  double error() const { return predicted_samples_per_s / run.samples_per_s - 1; }
};

struct Diagnosis {
  std::string subject;                // "photos/train, imagenet-train"
  std::vector<std::string> commands;  // that repeat it, and that try it
  Facts facts;
  Prediction now;
  TrainingVerdict verdict;
  BadOutlook bad_samples;
  Changes changes;
  RightSize right_size;
  std::vector<WhatIf> what_ifs;
  std::vector<ComparedRun> runs;
  CoreCurve by_cores;
  std::vector<IndexPoint> by_index;
};

struct DiagnosisQuestion {
  std::string subject{};
  std::vector<std::string> commands{};
  std::vector<std::string> what_ifs{};
  std::vector<MeasuredRun> runs{};
};

/// Throws kUsage for a what-if that is not understood.
Diagnosis diagnose(const Facts& facts, const DiagnosisQuestion& question, const Catalogue& catalogue);

/// "What if" has its own way of writing numbers: how much more of them, "+31%", "no change", "-12%".
std::string gain_text(double gain);

}  // namespace stoker
