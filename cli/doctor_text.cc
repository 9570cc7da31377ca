#include "cli/doctor_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "cli/text_table.h"
#include "stoker/base/escaped.h"
#include "stoker/base/units.h"
#include "stoker/doctor/report/doctor_words.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

std::string ladder_text(const Diagnosis& diagnosis) {
  TextTable table({{"limit"}, {"samples/s", Align::kRight}, {""}});
  const double needed = diagnosis.now.samples_per_s_needed;
  for (const Limit& limit : diagnosis.now.limits) {
    if (!std::isfinite(limit.samples_per_s)) continue;
    const bool is_step = limit.limiter == Limiter::kStep;
    const std::string note = is_step ? "needed" : needed > 0 && limit.samples_per_s < needed ? "less than needed" : "";
    table.add_row({std::string(name_of(limit.limiter)), number_text(limit.samples_per_s), note});
  }
  return table.text() + "\n";
}

std::string time_text_of(const TrainingVerdict& verdict) {
  std::vector<double> shares;
  for (const TimePart& part : verdict.gpu_time) shares.push_back(part.share);
  const std::vector<int> percents = whole_percents(shares);
  TextTable table({{"time of the GPU"}, {"share", Align::kRight}});
  for (std::size_t i = 0; i < percents.size(); ++i) {
    table.add_row({verdict.gpu_time[i].text(), fmt::format("{}%", percents[i])});
  }
  return table.text() + "\n";
}

std::string error_text(const Change& change) {
  const long percent = std::lround(100 * change.error);
  return percent == 0 ? "" : fmt::format("{}", percent);
}

std::string changes_text(const Changes& changes) {
  std::string text;
  if (changes.helpful.empty()) {
    text = "Nothing that can be bought or set would make it faster by 3% or more.\n";
  } else {
    TextTable table({{"change"},
                     {"gain", Align::kRight},
                     {"+- %", Align::kRight},
                     {"samples/s", Align::kRight},
                     {"GPU idle", Align::kRight},
                     {"--what-if"}});
    for (const Change& change : changes.helpful) {
      table.add_row({change.sentence, gain_text(change.gain), error_text(change),
                     number_text(change.prediction.samples_per_s), whole_percent(change.prediction.gpu_idle),
                     change.what_if});
    }
    text = table.text();
  }
  std::vector<std::string> useless;
  for (const Change& change : changes.useless) useless.push_back(change.sentence);
  if (!useless.empty()) text += fmt::format("But {}.\n", fmt::join(useless, ", "));
  for (const Excess& excess : changes.excess) text += fmt::format("More than needed: {}.\n", excess.sentence);
  return text + "\n";
}

std::string what_ifs_text(const std::vector<WhatIf>& what_ifs) {
  if (what_ifs.empty()) return "";
  TextTable table(
      {{"what if"}, {"samples/s", Align::kRight}, {"gain", Align::kRight}, {"GPU idle", Align::kRight}, {"limit"}});
  for (const WhatIf& what_if : what_ifs) {
    table.add_row({what_if.text, number_text(what_if.prediction.samples_per_s), gain_text(what_if.gain),
                   whole_percent(what_if.prediction.gpu_idle),
                   std::string(name_of(what_if.prediction.bottleneck().limiter))});
  }
  return table.text() + "\n";
}

std::string runs_text(const std::vector<ComparedRun>& runs) {
  if (runs.empty()) return "";
  TextTable table({{"run"}, {"samples/s", Align::kRight}, {"predicted", Align::kRight}, {"", Align::kRight}});
  for (const ComparedRun& each : runs) {
    table.add_row({escaped(each.run.name), number_text(each.run.samples_per_s),
                   number_text(each.predicted_samples_per_s), deviation_text(each)});
  }
  return table.text() + "\n";
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis) {
  const TrainingVerdict& verdict = diagnosis.verdict;
  std::string text = verdict.sentence + "\n";
  if (!verdict.tentative.empty()) text += tentative_sentence(verdict) + "\n";
  text += fmt::format("{}\n\n", rate_sentence(diagnosis));
  text += ladder_text(diagnosis);
  if (diagnosis.facts.step.seconds.known()) text += time_text_of(verdict);
  text += changes_text(diagnosis.changes);
  text += what_ifs_text(diagnosis.what_ifs);
  text += runs_text(diagnosis.runs);
  for (const NamedText& each : right_size_texts(diagnosis)) text += fmt::format("For {}: {}.\n", each.name, each.text);
  text += fmt::format("\n{}.\n{}.\n", escaped(question_sentence(diagnosis)), machine_sentence(diagnosis.facts.machine));
  if (diagnosis.bad_samples.any()) text += fmt::format("Bad samples: {}\n", escaped(diagnosis.bad_samples.text));
  for (const std::string& reason : verdict.not_measured) text += fmt::format("Not measured: {}.\n", escaped(reason));
  for (const std::string& doubt : doubts_of(diagnosis)) text += fmt::format("Note: {}\n", escaped(doubt));
  return text;
}

}  // namespace stoker
