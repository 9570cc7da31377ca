// What samples cost a core, stage by stage, and how many samples more cores make.
#pragma once

#include <memory>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/report/quarantine.h"

namespace stoker {

struct CpuProbe {
  CpuFacts facts;
  std::vector<std::int64_t> samples;  // good ones, which it was measured with
  BadFacts bad_samples{};             // of those that were tried
  double bytes_out = 0;               // per sample, of all stages
};

/// The figures of `plan`, on the CPU alone; `cores` as in MachineFacts. The list of bad samples may be null. Throws as
/// measure_core does, but for single bad samples, whatever a run would do about them.
CpuProbe probe_cpu(const std::shared_ptr<const Dataset>& dataset, const Plan& plan, LoaderOptions loader,
                   const Quarantine* listed, double cores, const ProbeLimits& limits);

}  // namespace stoker
