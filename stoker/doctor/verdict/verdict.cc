#include "stoker/doctor/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "stoker/doctor/verdict/bad_outlook.h"

namespace stoker {
namespace {

constexpr double kWorthAPart = 0.0005;  // of the GPUs' time

bool is_step(const Limit& limit) { return limit.limiter == Limiter::kStep; }

// That it is the device's own speed, not the page cache's; a file system in memory has no other.
bool cold_is_known(const StorageFacts& storage) {
  const auto is_sound = [](const Figure& figure) { return figure.known() && figure.caveat.empty(); };
  return storage.device_class == "memory" || is_sound(storage.cold_bytes_per_s) ||
         std::any_of(storage.cold.begin(), storage.cold.end(),
                     [&](const ReadFacts& reads) { return is_sound(reads.reads_per_s); });
}

std::vector<std::string> not_measured(const Facts& facts, const Prediction& now) {
  std::vector<std::string> reasons;
  if (!facts.step.seconds.known()) {
    reasons.emplace_back("it is not known how fast the training takes samples");
  }
  // It makes figures worse, never better: GPUs that are fed beside it are fed without it.
  if (facts.machine.too_noisy() && bound_class(now.gpu_idle) != BoundClass::kFed) {
    reasons.push_back(
        fmt::format("while it was measured, other programs used {:.1f} of the {:.3g} cores, and other virtual machines "
                    "took {:.0f}% of their time: repeat it when the machine is quieter",
                    facts.machine.others_cores, facts.machine.cores, 100 * facts.machine.stolen_share));
  }
  if (facts.store && facts.store->throttled) {
    reasons.emplace_back(
        "the store refused requests as too many while it was measured, so its figures show that limit and not its "
        "speed");
  }
  if (facts.storage && now.miss_share > 0 && !cold_is_known(*facts.storage)) {
    const std::string& caveat = facts.storage->cold_bytes_per_s.caveat;
    reasons.push_back(fmt::format("the data do not fit in memory, and how fast {} gives them could not be measured{}",
                                  facts.storage->device.empty() ? "their disk" : facts.storage->device,
                                  caveat.empty() ? std::string() : ": " + caveat));
  }
  return reasons;
}

// What holds the GPUs back, and what is next. If they are fed that is their own step. Where only unevenness makes them
// wait, the first limit above the step is what is uneven.
void find_limits(TrainingVerdict& verdict, const Prediction& now) {
  if (now.limits.empty()) return;
  std::vector<Limit> limits = now.limits;
  // A GPU that waits although all else is faster on average waits for the slowest of that: its batches are uneven.
  if (!verdict.fed() && is_step(limits.front()) && limits.size() > 1) limits.erase(limits.begin());
  verdict.bottleneck = limits[0];
  if (limits.size() > 1) verdict.next = limits[1];
}

std::vector<TimePart> split_time(const Prediction& now) {
  std::vector<TimePart> parts = {{.share = 1 - now.gpu_idle}};
  const double needed = now.samples_per_s_needed;
  double left = now.gpu_idle, level = std::min(now.samples_per_s, needed);
  std::vector<Limit> limits;
  std::copy_if(now.limits.begin(), now.limits.end(), std::back_inserter(limits),
               [&](const Limit& limit) { return !is_step(limit) && limit.samples_per_s < needed; });
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const double next = i + 1 < limits.size() ? limits[i + 1].samples_per_s : needed;
    // Of the time that a sample takes now.
    const double share = level > 0 && next > level ? std::min(now.samples_per_s * (1 / level - 1 / next), left) : 0;
    level = std::max(level, next);
    if (share < kWorthAPart) continue;
    parts.push_back({.kind = TimePart::Kind::kWaits, .limiter = limits[i].limiter, .share = share});
    left -= share;
  }
  if (left < kWorthAPart) {
    parts.front().share += left;
  } else {
    parts.push_back({.kind = TimePart::Kind::kUneven, .share = left});
  }
  return parts;
}

}  // namespace

std::string TimePart::text() const {
  switch (kind) {
    case Kind::kBusy: return "busy";
    case Kind::kWaits: return fmt::format("waits for {}", words_of(limiter));
    case Kind::kUneven: return "waits for uneven batches";
  }
  return {};
}

TrainingVerdict judge(const Facts& facts, const Prediction& now) {
  TrainingVerdict verdict;
  verdict.bound = bound_class(now.gpu_idle);
  verdict.not_measured = not_measured(facts, now);
  find_limits(verdict, now);
  verdict.gpu_time = split_time(now);
  verdict.sentence = verdict_sentence(now.gpu_idle, verdict.bottleneck, verdict.next);
  if (const BadOutlook bad = bad_outlook(facts); bad.stops())
    verdict.stops = fmt::format("{}, and {}", bad.found, bad.rule);
  if (!verdict.runs()) {
    verdict.tentative = verdict.sentence;
    verdict.sentence = fmt::format("Would not run: {}", verdict.stops);
  } else if (!verdict.measurable()) {
    verdict.tentative = verdict.sentence;
    verdict.sentence = fmt::format("Not measurable: {}", verdict.not_measured.front());
  } else if (verdict.fed()) {
    verdict.sentence += "; nothing to buy";
  }
  return verdict;
}

std::vector<int> whole_percents(const std::vector<double>& shares) {
  std::vector<int> percents;
  percents.reserve(shares.size());
  for (const double share : shares) percents.push_back(static_cast<int>(100 * share));
  std::vector<std::size_t> by_loss(shares.size());
  std::iota(by_loss.begin(), by_loss.end(), std::size_t{0});
  std::stable_sort(by_loss.begin(), by_loss.end(), [&](std::size_t one, std::size_t other) {
    return 100 * shares[one] - percents[one] > 100 * shares[other] - percents[other];
  });
  int left = 100 - std::accumulate(percents.begin(), percents.end(), 0);
  for (const std::size_t i : by_loss) {
    if (left-- <= 0) break;
    ++percents[i];
  }
  return percents;
}

}  // namespace stoker
