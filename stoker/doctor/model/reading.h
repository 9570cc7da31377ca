// What a run can read: of disks, their page cache, and stores behind a network.
#pragma once

#include <string>
#include <vector>

#include "stoker/capacity/rates.h"
#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"
#include "stoker/doctor/model/quantiles.h"
#include "stoker/doctor/model/resolved_run.h"

namespace stoker {

/// Samples a second that something can carry.
struct Carried {
  double samples_per_s = kUnlimited;
  double error = 0;  // relative
};

struct Reading {
  Carried bandwidth, requests, network;
  std::vector<std::string> assumptions{};

  // The same as a simulation takes it:
  double read_share = 0;            // of samples that are not in memory
  int depth = 1;                    // reads under way, of all loaders
  Quantiles read_s{{0.0}};          // of one sample's
  double reads_per_s = kUnlimited;  // at any depth
};

Reading reading_of(const Facts& facts, const Configuration& change, const ResolvedRun& run, Epoch epoch);

}  // namespace stoker
