// The sentences that the page and the terminal have in common.
#pragma once

#include <string>
#include <vector>

#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {

/// "highly input-bound: 1,120 of the 1,786 samples/s that the GPUs could take".
std::string rate_sentence(const Diagnosis& diagnosis);

/// What would be said if nothing spoke against it: "As far as it was measured: Fed: ...".
std::string tentative_sentence(const TrainingVerdict& verdict);

/// Of one machine, in one line: "xeon: 8 cores, 64 GB, 1 GPU (NVIDIA H100)".
std::string machine_sentence(const MachineFacts& machine);

/// What was asked: data, recipe, batch, step.
std::string question_sentence(const Diagnosis& diagnosis);

struct NamedText {
  std::string name, text;
};

/// The machine that the work needs: for training, serving and preprocessing.
std::vector<NamedText> right_size_texts(const Diagnosis& diagnosis);

/// All that makes the answer less sure: what could not be measured, what was assumed.
std::vector<std::string> doubts_of(const Diagnosis& diagnosis);

/// "+31% ± 4%"; without the latter if it is nothing.
std::string gain_with_error(double gain, double error);

/// "+12%", or why it cannot be compared.
std::string deviation_text(const ComparedRun& run);

/// "34%", of a share.
std::string whole_percent(double share);

}  // namespace stoker
