#include "stoker/doctor/report/doctor_page.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/units.h"
#include "stoker/doctor/report/doctor_charts.h"
#include "stoker/doctor/report/doctor_words.h"
#include "stoker/doctor/report/figure_table.h"
#include "stoker/page/report_page.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

void add(ReportPage& page, const std::optional<DoctorChart>& chart, std::string_view about) {
  if (chart) page.chart(chart->data, about, chart->caption);
}

// With the heading if there is any.
void add(ReportPage& page, std::string_view heading,
         const std::vector<std::pair<std::optional<DoctorChart>, std::string_view>>& charts) {
  bool headed = false;
  for (const auto& [chart, about] : charts) {
    if (!chart) continue;
    if (!std::exchange(headed, true)) page.heading(heading);
    add(page, chart, about);
  }
}

void add_verdict(ReportPage& page, const Diagnosis& diagnosis) {
  const TrainingVerdict& verdict = diagnosis.verdict;
  const std::string_view style = !verdict.runs()         ? "poor"
                                 : !verdict.measurable() ? "open"
                                 : verdict.fed()         ? "good"
                                                         : "poor";
  page.paragraph(verdict.sentence, fmt::format("verdict {}", style));
  if (!verdict.tentative.empty()) page.paragraph(tentative_sentence(verdict) + ".");
  page.paragraph(rate_sentence(diagnosis) + ".");
  page.paragraph(question_sentence(diagnosis) + ". " + machine_sentence(diagnosis.facts.machine) + ".", "remark");
  std::vector<PageFigure> figures;
  if (diagnosis.facts.step.seconds.known()) {
    figures.push_back({whole_percent(diagnosis.now.gpu_idle), "GPU idle"});
    figures.push_back({number_text(diagnosis.now.samples_per_s), "samples/s"});
    figures.push_back({number_text(diagnosis.now.samples_per_s_needed), "samples/s needed"});
  } else {
    figures.push_back({number_text(diagnosis.now.samples_per_s), "samples/s"});
  }
  figures.push_back({std::string(name_of(verdict.bottleneck.limiter)), "the limit"});
  page.figures(figures);
}

void add_changes(ReportPage& page, const Changes& changes) {
  page.heading("What would help");
  if (changes.helpful.empty()) {
    page.paragraph("Nothing that can be bought or set.");
  }
  PageTable table{{{"change", ""},
                   {"gain"},
                   {"first epoch"},
                   {"samples/s"},
                   {"GPU idle"},
                   {"then the limit", ""},
                   {"--what-if", ""}}};
  const auto add_rows = [&](const std::vector<Change>& of, bool quiet) {
    for (const Change& change : of) {
      table.rows.push_back({{{change.sentence},
                             {gain_with_error(change.gain, change.error)},
                             {gain_text(change.first_epoch_gain)},
                             {number_text(change.prediction.samples_per_s)},
                             {whole_percent(change.prediction.gpu_idle)},
                             {std::string(name_of(change.prediction.bottleneck().limiter))},
                             {change.what_if}},
                            quiet});
    }
  };
  add_rows(changes.helpful, false);
  add_rows(changes.useless, true);
  if (!table.rows.empty()) page.table(table);
  if (!changes.useless.empty()) page.paragraph("Paler: what gives nothing, or less than 3%.", "remark");
  if (changes.excess.empty()) return;
  page.heading("More than needed");
  PageTable excess{{{"what there is too much of", ""}, {"samples/s"}, {"GPU idle"}, {"--what-if", ""}}};
  for (const Excess& each : changes.excess) {
    excess.rows.push_back({{{each.sentence},
                            {number_text(each.prediction.samples_per_s)},
                            {whole_percent(each.prediction.gpu_idle)},
                            {each.what_if}}});
  }
  page.table(excess);
}

void add_what_ifs(ReportPage& page, const std::vector<WhatIf>& what_ifs) {
  if (what_ifs.empty()) return;
  page.heading("What if");
  PageTable table{{{"with", ""}, {"samples/s"}, {"gain"}, {"GPU idle"}, {"the limit", ""}}};
  for (const WhatIf& what_if : what_ifs) {
    table.rows.push_back({{{what_if.text},
                           {number_text(what_if.prediction.samples_per_s)},
                           {gain_text(what_if.gain)},
                           {whole_percent(what_if.prediction.gpu_idle)},
                           {std::string(name_of(what_if.prediction.bottleneck().limiter))}}});
  }
  page.table(table);
}

PageTable offer_table(const std::vector<MachineOffer>& offers) {
  PageTable table{{{"machine", ""},
                   {"vCPUs"},
                   {"memory"},
                   {"GPUs", ""},
                   {"samples/s"},
                   {"GPU idle"},
                   {"the limit", ""},
                   {"per hour"},
                   {"samples per unit"}}};
  for (const MachineOffer& offer : offers) {
    const CloudMachine& machine = offer.machine;
    table.rows.push_back(
        {{{machine.name},
          {number_text(machine.vcpus)},
          {fmt::format("{:.0f} GiB", static_cast<double>(machine.memory_bytes) / 0x1p30)},
          {machine.gpus == 0 ? std::string(kUnknown) : fmt::format("{} {}", machine.gpus, machine.gpu)},
          {number_text(offer.prediction.samples_per_s)},
          {whole_percent(offer.prediction.gpu_idle)},
          {std::string(name_of(offer.prediction.bottleneck().limiter))},
          {machine.price_per_hour ? fmt::format("{:.2f}", *machine.price_per_hour) : std::string(kUnknown)},
          {offer.samples_per_price ? number_text(*offer.samples_per_price) : std::string(kUnknown)}},
         !offer.fed});
  }
  return table;
}

void add_right_size(ReportPage& page, const Diagnosis& diagnosis) {
  page.heading("The machine that this work needs");
  PageTable table{{{"for", ""}, {"", ""}}};
  for (const NamedText& each : right_size_texts(diagnosis)) table.rows.push_back({{{each.name}, {each.text}}});
  page.table(table);
  add(page, gpu_chart(diagnosis), "throughput against GPUs");
  add(page, latency_chart(diagnosis), "latency against load");
  if (diagnosis.right_size.offers.empty()) return;
  page.table(offer_table(diagnosis.right_size.offers));
  page.paragraph("Machines of the catalogue, each alone with all its GPUs; paler where they would wait.", "remark");
}

void add_data(ReportPage& page, const Diagnosis& diagnosis) {
  add(page, "The data",
      {{distribution_chart(diagnosis, Distribution::kBytes), "how large samples are"},
       {distribution_chart(diagnosis, Distribution::kWidth), "how wide images are"},
       {distribution_chart(diagnosis, Distribution::kHeight), "how high images are"},
       {distribution_chart(diagnosis, Distribution::kCost), "what samples cost a core"}});
  const DataFacts& data = diagnosis.facts.data;
  std::vector<std::string> parts;
  for (const DataFacts::Codec& codec : data.codecs) {
    parts.push_back(fmt::format("{} {}", whole_percent(codec.share), codec.name));
  }
  if (data.bits_per_pixel > 0) parts.push_back(fmt::format("{:.2g} bits per pixel", data.bits_per_pixel));
  if (data.slow_path_share > 0) parts.push_back(whole_percent(data.slow_path_share) + " take the slower decoder");
  if (!parts.empty()) page.paragraph(fmt::format("{}.", fmt::join(parts, "; ")));
  if (diagnosis.bad_samples.any()) page.paragraph("Bad samples: " + diagnosis.bad_samples.text);
}

void add_runs(ReportPage& page, const Diagnosis& diagnosis) {
  add(page, "Predicted against measured", {{run_chart(diagnosis), "runs, as predicted and as they were"}});
  for (const ComparedRun& each : diagnosis.runs) {
    if (!each.comparable()) page.paragraph(fmt::format("{}: {}.", each.run.name, deviation_text(each)), "remark");
  }
}

void add_measurements(ReportPage& page, const Diagnosis& diagnosis) {
  page.heading("What was measured");
  page.table(figure_table(diagnosis.facts));
  for (const std::string& doubt : doubts_of(diagnosis)) page.paragraph(doubt, "remark");
}

}  // namespace

std::string doctor_page_html(const Diagnosis& diagnosis) {
  ReportPage page("What holds this training back: " + diagnosis.subject);
  add_verdict(page, diagnosis);
  add(page, time_chart(diagnosis), "where the time goes");
  page.heading("Capacity");
  add(page, ladder_chart(diagnosis), "what each resource could carry, and what is needed");
  add_changes(page, diagnosis.changes);
  add_what_ifs(page, diagnosis.what_ifs);
  page.heading("Cores");
  add(page, core_chart(diagnosis), "throughput against cores");
  add(page, "Split between CPU and device", {{index_chart(diagnosis), "throughput by transfer index and threads"}});
  add(page, "Storage, cold and warm", {{storage_chart(diagnosis), "what storage gives"}});
  add_right_size(page, diagnosis);
  add_data(page, diagnosis);
  add_runs(page, diagnosis);
  add_measurements(page, diagnosis);
  if (!diagnosis.commands.empty()) {
    page.heading("To repeat it");
    for (const std::string& command : diagnosis.commands) page.code(command);
  }
  return page.html();
}

}  // namespace stoker
