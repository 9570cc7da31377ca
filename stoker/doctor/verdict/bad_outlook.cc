#include "stoker/doctor/verdict/bad_outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "stoker/base/units.h"
#include "stoker/runtime/bad_slot_policy.h"

namespace stoker {
namespace {

constexpr double kSure = 1.645;  // deviations of a normal distribution, for 95% to one side

// The least mean with which so many are not unlikely (of Poisson's distribution, by Wilson and Hilferty).
double least_mean(std::int64_t count) {
  const auto n = static_cast<double>(count);
  return n * std::pow(std::max(0.0, 1 - 1 / (9 * n) - kSure / (3 * std::sqrt(n))), 3);
}

std::string bad_count_text(std::int64_t count) { return format_count(static_cast<std::uint64_t>(count)); }

std::string_view deed_of(BadSlotPolicy policy) {
  switch (policy) {
    case BadSlotPolicy::kSubstitute: return "A run puts other samples in their place, and";
    case BadSlotPolicy::kSkip: return "A run leaves them out, and";
    case BadSlotPolicy::kFail: break;
  }
  return "With --bad-sample fail, a run";
}

}  // namespace

BadOutlook bad_outlook(const Facts& facts) {
  const BadFacts& bad = facts.data.bad_samples;
  BadOutlook outlook;
  if (bad.bad == 0) return outlook;
  const BadSlotPolicy policy = parse_bad_slot_policy(facts.run.bad_sample);
  const bool fails = policy == BadSlotPolicy::kFail;
  outlook.most = fails ? 0 : bad_samples_most(facts.run.slots);
  // Those that were found are there; what the others are like can only be inferred from them.
  const auto all = static_cast<double>(std::max(facts.data.samples, bad.looked));
  const auto looked = static_cast<double>(bad.looked), found = static_cast<double>(bad.bad);
  const double part = std::min(1.0, static_cast<double>(facts.run.different_samples) / all);
  outlook.in_epoch = part * found * all / looked;
  outlook.in_epoch_least = part * (found + least_mean(bad.bad) * (all - looked) / looked);
  outlook.found = fmt::format("{} of the {} that were looked at {} bad", bad_count_text(bad.bad),
                              counted(bad.looked, "sample"), bad.bad == 1 ? "is" : "are");
  const std::string stop = fails
                               ? std::string("stops at the first one")
                               : fmt::format("stops when an epoch has met more than {}", bad_count_text(outlook.most));
  outlook.rule = fmt::format("a run {}{}", fails ? "with --bad-sample fail " : "", stop);
  outlook.text = fmt::format(
      "{}, such as {}. {} {}; an epoch of these data has about {:.0f}. `stoker verify DATA --quarantine "
      "FILE` lists all of them; with --quarantine FILE a run passes over those listed, and so does the doctor.",
      outlook.found, bad.example, deed_of(policy), stop, outlook.in_epoch);
  return outlook;
}

}  // namespace stoker
