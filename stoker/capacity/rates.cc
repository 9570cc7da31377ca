#include "stoker/capacity/rates.h"

#include <cmath>

namespace stoker {
namespace {

constexpr double kBatchesBetween = 0.15;  // that each step needs ahead for all else to go on beside it
constexpr double kSharpness = 16;         // of the least of several: as a norm's exponent

}  // namespace

double share_by_prefetch(double prefetch) { return prefetch / (prefetch + kBatchesBetween); }

double throughput_of(std::span<const double> rates) {
  const double least = *std::min_element(rates.begin(), rates.end());
  if (least == kUnlimited || least <= 0) return least;
  double sum = 0;
  for (const double rate : rates) sum += std::pow(least / rate, kSharpness);
  return least * std::pow(sum, -1 / kSharpness);
}

double mixed_rate(std::initializer_list<SharedRate> parts) {
  double seconds = 0;
  for (const SharedRate& part : parts) {
    if (part.share > 0) seconds += part.share / part.rate;
  }
  return seconds > 0 ? 1 / seconds : kUnlimited;
}

}  // namespace stoker
