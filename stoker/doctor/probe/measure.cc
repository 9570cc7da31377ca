#include "stoker/doctor/probe/measure.h"

#include <memory>
#include <utility>

#include "stoker/device/device.h"
#include "stoker/doctor/probe/copy_probe.h"
#include "stoker/doctor/probe/cpu_probe.h"
#include "stoker/doctor/probe/data_files.h"
#include "stoker/doctor/probe/data_probe.h"
#include "stoker/doctor/probe/machine_probe.h"
#include "stoker/doctor/probe/memory_probe.h"
#include "stoker/doctor/probe/noise_watch.h"
#include "stoker/doctor/probe/object_store_probe.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/doctor/probe/step_probe.h"
#include "stoker/doctor/probe/storage_probe.h"
#include "stoker/runtime/report/quarantine.h"

namespace stoker {
namespace {

// Of which the files are read: as many loose ones as a fast disk gives in some seconds.
constexpr std::int64_t kFileSamples = 32'768, kFileSamplesQuick = 8'192;

constexpr int kProbes = 6;

class Measuring {
 public:
  explicit Measuring(const MeasureOptions& options)
      : options_(options),
        plan_(options.recipe),
        limits_{.quick = options.quick, .time_share = options.time_share, .stop = options.stop} {}

  Facts run() {
    // What cannot be answered is said before minutes have passed.
    facts_.run = run_facts(*options_.dataset, options_.recipe, options_.loader, options_.open.direct);
    options_.loader.batch = facts_.run.batch;
    options_.loader.global_batch = 0;
    if (!options_.step.empty()) {
      facts_.step = probe_step({.step = options_.step,
                                .batch = facts_.run.batch,
                                .gpus = options_.gpus,
                                .cache_folder = options_.cache_folder},
                               *options_.dataset, options_.recipe);
    }
    const NoiseWatch noise;
    begin("machine");
    measure_machine();
    begin("storage");
    measure_storage();
    begin("data");
    const std::unique_ptr<const Quarantine> listed = listed_bad_samples(options_.loader);
    facts_.data = probe_data(*options_.dataset, options_.recipe, options_.loader, listed.get(), limits_);
    begin("cpu");
    CpuProbe cpu = probe_cpu(options_.dataset, plan_, options_.loader, listed.get(), facts_.machine.cores, limits_);
    facts_.cpu = std::move(cpu.facts);
    // What a header or an index tells, or what decoding does: bad samples are seen by the one or the other.
    if (cpu.bad_samples.share() >= facts_.data.bad_samples.share())
      facts_.data.bad_samples = std::move(cpu.bad_samples);
    begin("memory");
    facts_.memory = probe_memory(limits_);
    // A sample's bytes are copied once, and what each stage hands on is written once.
    facts_.memory.copied_bytes = facts_.data.read_bytes + cpu.bytes_out;
    begin("copy");
    facts_.copy = probe_copy(*options_.dataset, plan_, options_.loader, cpu.samples, options_.gpus, limits_);
    noise.report(facts_.machine, facts_.doubts);
    begin({});
    return std::move(facts_);
  }

 private:
  void begin(std::string_view probe) {
    limits_.check();
    if (options_.progress) options_.progress(probe, done_++, kProbes);
  }

  void measure_machine() {
    facts_.machine = probe_machine();
    if (!options_.loader.device) return;
    for (GpuFacts& gpu : facts_.machine.gpus) {
      const Device& device = *options_.loader.device;
      if (same_bus_id(gpu.bus_id, device.bus_id())) gpu.memory_bytes = device.memory_bytes();
    }
  }

  void measure_storage() {
    const Dataset& dataset = *options_.dataset;
    facts_.store = probe_object_store(dataset, limits_, facts_.doubts);
    const DataFiles files = find_data_files(dataset, limits_.pick(kFileSamples, kFileSamplesQuick));
    if (!files.files.empty()) {
      facts_.storage = probe_storage(files, options_.open, limits_, facts_.doubts);
    } else if (!facts_.store) {
      facts_.doubts.emplace_back("the data lie neither in files nor in a store: no storage was measured");
    }
  }

  MeasureOptions options_;
  const Plan plan_;
  const ProbeLimits limits_;
  Facts facts_;
  int done_ = 0;
};

}  // namespace

Facts measure(const MeasureOptions& options) { return Measuring(options).run(); }

}  // namespace stoker
