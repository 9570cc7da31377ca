#include "stoker/doctor/report/doctor_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stoker/base/units.h"
#include "stoker/doctor/verdict/memory_text.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

std::string vcpus_text(double vcpus) { return fmt::format("{} {}", number_text(vcpus), vcpus == 1 ? "vCPU" : "vCPUs"); }

std::string training_text(const TrainingSize& training) {
  std::vector<std::string> parts = {vcpus_text(training.vcpus_per_gpu) + " per GPU"};
  if (training.memory_bytes > 0) parts.push_back(memory_text(training.memory_bytes) + " of memory");
  if (!training.disk.empty()) parts.push_back("disk: " + training.disk);
  if (!training.network.empty()) parts.push_back("network: " + training.network);
  if (!training.layout.empty()) parts.push_back("layout: " + training.layout);
  if (!training.cache.empty() && training.cache != "none") parts.push_back("cache: " + training.cache);
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     training.reachable ? "" : "; that comes nearest, but the GPUs still wait");
}

std::string inference_text(const InferenceSize& inference) {
  std::string text = fmt::format("at most {} samples/s, limited by {}", number_text(inference.samples_per_s_most),
                                 words_of(inference.limiter));
  if (!inference.loads.empty()) {
    const LoadPoint& half = inference.loads[inference.loads.size() / 2];
    text += fmt::format("; at {} samples/s an answer takes {:.3g} ms, and 99 in 100 at most {:.3g} ms",
                        number_text(half.samples_per_s), 1e3 * half.latency_s_p50, 1e3 * half.latency_s_p99);
  }
  if (inference.vcpus_per_gpu > 0) text += fmt::format("; enough: {} per GPU", vcpus_text(inference.vcpus_per_gpu));
  return text;
}

std::string preprocessing_text(const PreprocessingSize& work) {
  std::string text = fmt::format("{} for all samples once, {} samples/s, limited by {}", time_text(3600 * work.hours),
                                 number_text(work.samples_per_s), words_of(work.limiter));
  if (work.vcpus_enough > 0) text += fmt::format("; more than {} give nothing", vcpus_text(work.vcpus_enough));
  return text;
}

std::string portions_text(const Portions& portions) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const std::optional<double>& share) {
    if (share) parts.push_back(fmt::format("{} {}", whole_percent(std::min(*share, 1.0)), what));
  };
  add("of the coded data fit in memory", portions.memory_coded);
  add("of the decoded in memory", portions.memory_decoded);
  add("of the coded in the GPUs", portions.gpu_coded);
  add("of the decoded in the GPUs", portions.gpu_decoded);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string whole_percent(double share) { return fmt::format("{}%", std::lround(100 * share)); }

std::string rate_sentence(const Diagnosis& diagnosis) {
  const Prediction& now = diagnosis.now;
  if (!diagnosis.facts.step.seconds.known()) return number_text(now.samples_per_s) + " samples/s";
  std::string text = fmt::format(
      "{}: {} of the {} samples/s that the {} could take", name_of(diagnosis.verdict.bound),
      number_text(now.samples_per_s), number_text(now.samples_per_s_needed),
      diagnosis.facts.step.gpus > 1 ? fmt::format("{} GPUs", diagnosis.facts.step.gpus) : std::string("GPU"));
  const double first = now.first_epoch_samples_per_s;
  if (first > 0 && first < 0.95 * now.samples_per_s) {
    text += fmt::format("; {} in the first epoch, while caches fill", number_text(first));
  }
  return text;
}

std::string tentative_sentence(const TrainingVerdict& verdict) {
  return fmt::format("{}: {}", verdict.measurable() ? "If it ran" : "As far as it was measured", verdict.tentative);
}

std::string machine_sentence(const MachineFacts& machine) {
  std::string text = fmt::format("{}: {:.3g} {}, {} of memory", machine.name, machine.cores,
                                 machine.cores == 1 ? "core" : "cores", memory_text(machine.memory_bytes));
  if (machine.sockets > 1) text += fmt::format(", {} sockets", machine.sockets);
  if (!machine.gpus.empty()) {
    text += fmt::format(", {} ({})", counted(machine.gpus.size(), "GPU"), machine.gpus.front().name);
  }
  return text;
}

std::string question_sentence(const Diagnosis& diagnosis) {
  const Facts& facts = diagnosis.facts;
  std::string text = fmt::format("{}; {} of {}, {}", diagnosis.subject, counted(facts.data.samples, "sample"),
                                 format_size(static_cast<double>(facts.data.record_bytes)), facts.data.format);
  if (facts.data.layout == "loose") text += ", loose files";
  if (facts.step.seconds.known()) {
    text += fmt::format("; {}batches of {}, a step takes {:.3g} s ({})",
                        facts.step.gpus > 1 ? fmt::format("{} GPUs, ", facts.step.gpus) : std::string(),
                        facts.step.batch, facts.step.seconds.median, facts.step.source);
  }
  return text;
}

std::vector<NamedText> right_size_texts(const Diagnosis& diagnosis) {
  const RightSize& size = diagnosis.right_size;
  std::vector<NamedText> texts;
  if (diagnosis.facts.step.seconds.known()) {
    texts.push_back({"training", training_text(size.training)});
    texts.push_back({"inference", inference_text(size.inference)});
  }
  texts.push_back({"preprocessing", preprocessing_text(size.preprocessing)});
  if (const std::string portions = portions_text(size.portions); !portions.empty()) {
    texts.push_back({"a cache", portions});
  }
  return texts;
}

std::vector<std::string> doubts_of(const Diagnosis& diagnosis) {
  std::vector<std::string> doubts = diagnosis.facts.doubts;
  for (const std::string& assumption : diagnosis.now.assumptions) doubts.push_back(assumption);
  return doubts;
}

std::string deviation_text(const ComparedRun& run) {
  return run.comparable() ? gain_text(run.error()) : "not comparable: " + run.differs;
}

std::string gain_with_error(double gain, double error) {
  const std::string text = gain_text(gain);
  const long percent = std::lround(100 * error);
  return percent == 0 || !text.ends_with('%') ? text : fmt::format("{} ± {}%", text, percent);
}

}  // namespace stoker
