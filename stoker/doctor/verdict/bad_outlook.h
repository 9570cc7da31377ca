// What bad samples do to a run: from those that were found among the samples that were looked at.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/doctor/facts.h"

namespace stoker {

struct BadOutlook {
  double in_epoch = 0;  // bad samples that a loader meets in an epoch, if all data are as those that were looked at
  double in_epoch_least = 0;  // the same, at least, with a probability of 95%
  std::int64_t most = 0;      // so many are borne; beyond that the run stops
  std::string found{};        // "75 of the 300 samples that were looked at are bad"; empty: none is
  std::string rule{};         // "a run stops when an epoch has met more than 10"
  std::string text{};         // all of that, and what to do, in sentences

  bool any() const { return !found.empty(); }
  bool stops() const { return in_epoch_least > static_cast<double>(most); }
};

BadOutlook bad_outlook(const Facts& facts);

}  // namespace stoker
