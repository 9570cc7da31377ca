#include "stoker/doctor/model/resolved_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stoker/capacity/caches.h"

namespace stoker {
namespace {

constexpr int kPrefetchUnknown = 2, kIoDepthUnknown = 64;
constexpr double kAllThreads = 0.75;        // of the cores: so many threads are meant as all, and follow the cores
constexpr double kScratchBytes = 32e6;      // of a thread: a decoded image, and what it needs beside it
constexpr double kFreeForPages = 0.9;       // of memory, less what loaders hold: the rest is for all else
constexpr double kPagesUnknown = 0.2;       // of what lies between the best and the worst a page cache can do
constexpr double kCachePart = 0.5;          // of memory: the largest cache that a loader makes if it may
constexpr double kWindowedReadBytes = 1e6;  // that an order by windows reads at a time

// Which of the transfer indices first has a stage on the CPU.
int first_index_with(const StageFacts& stage) { return stage.kind == "decode" ? 1 : stage.kind == "geometry" ? 2 : 3; }

class Resolver {
 public:
  Resolver(const Facts& facts, const Configuration& change) : facts_(facts), change_(change) {}

  ResolvedRun resolve() {
    counts();
    step();
    cpu();
    reads();
    run_.loader_bytes = held_bytes();
    sources();
    return run_;
  }

 private:
  void counts() {
    const RunFacts& run = facts_.run;
    const double cores = std::max(facts_.machine.cores, 0.01);
    const int gpus = std::max(1, facts_.step.gpus);
    run_.cores = change_.cores.value_or(cores);
    run_.nodes = std::max(1, change_.nodes.value_or(1));
    run_.gpus = std::max(1, change_.gpus.value_or(gpus));
    run_.batch = std::max({1, change_.batch.value_or(run.batch > 0 ? run.batch : facts_.step.batch)});
    run_.prefetch = std::max(1, change_.prefetch.value_or(run.prefetch > 0 ? run.prefetch : kPrefetchUnknown));
    int depth = std::max(1, change_.io_depth.value_or(run.io_depth > 0 ? run.io_depth : kIoDepthUnknown));
    // Of local data no more is read than its batches, and the one after them, will have.
    if (!facts_.store) depth = std::min(depth, (run_.prefetch + 1) * run_.batch);
    run_.io_depth = run_.gpus * depth;
    const double threads = run.threads > 0 ? run.threads * gpus : std::ceil(cores);
    if (change_.threads) {
      run_.threads = *change_.threads * run_.gpus;
    } else if (threads >= kAllThreads * cores) {
      run_.threads = static_cast<int>(std::lround(std::ceil(threads / cores * run_.cores - 1e-6)));
    } else {
      run_.threads = run.threads * run_.gpus;
    }
    run_.threads = std::max(1, run_.threads);
  }

  void step() {
    const StepFacts& step = facts_.step;
    run_.step_s = step.seconds.known() ? step.seconds.median : 0;
    if (step.batch > 0 && run_.batch != step.batch && run_.step_s > 0 && !change_.step_s) {
      run_.step_s *= static_cast<double>(run_.batch) / step.batch;
      assume("a step's time grows with its batch");
    }
    if (change_.gpu) run_.step_s /= change_.gpu->speed_against;
    if (change_.step_s) run_.step_s = *change_.step_s;
  }

  void cpu() {
    const CpuFacts& cpu = facts_.cpu;
    const CopyFacts& copy = facts_.copy;
    run_.transfer_index = copy.device.empty() ? -1 : change_.transfer_index.value_or(facts_.run.transfer_index);
    const auto index = static_cast<std::size_t>(std::max(0, run_.transfer_index));
    const bool known = run_.transfer_index >= 0 && index < copy.cpu_s_per_sample.size();
    run_.cpu_s = cpu.total_s();
    if (known && copy.cpu_s_per_sample.back() > 0) {
      run_.cpu_s =
          cpu.other_s + (cpu.total_s() - cpu.other_s) * copy.cpu_s_per_sample[index] / copy.cpu_s_per_sample.back();
    }
    for (const StageFacts& stage : cpu.stages) {
      if (run_.transfer_index >= 0 && first_index_with(stage) > run_.transfer_index) continue;
      if (stage.kind == "decode") run_.decode_s += stage.cpu_s;
      if (change_.without == stage.name) run_.cpu_s -= stage.cpu_s;
    }
    if (change_.layout == "packed" && facts_.data.layout == "loose" && cpu.indexed_decode > 0 && run_.decode_s > 0) {
      const double saved_s = (1 - std::min(1.0, cpu.indexed_decode)) * run_.decode_s;
      run_.cpu_s -= saved_s;
      run_.decode_s -= saved_s;
      assume(fmt::format("with the index that packing makes, decoding takes {:.0f}% of its time",
                         100 * std::min(1.0, cpu.indexed_decode)));
    }
    run_.cpu_s = std::max(run_.cpu_s, cpu.other_s);
    run_.decode_s = std::min(run_.decode_s, run_.cpu_s);
    if (run_.transfer_index >= 0 && index < copy.device_s.size()) {
      run_.kernels_s = copy.device_s[index].value_or(0);
      if (change_.gpu) run_.kernels_s /= change_.gpu->speed_against;
    }
  }

  void reads() {
    const DataFacts& data = facts_.data;
    const std::string order = change_.order.value_or(facts_.run.order);
    const auto other = std::ranges::find(data.other_orders, order, &DataFacts::OrderReads::order);
    const bool known = order != facts_.run.order && other != data.other_orders.end();
    const DataFacts::OrderReads its =
        known ? *other
              : DataFacts::OrderReads{order, data.read_bytes, data.requests, data.index_bytes, data.index_requests};
    run_.bytes = its.bytes;
    run_.requests = its.requests > 0 ? its.requests : 1;
    const bool loose = change_.layout.value_or(data.layout) == "loose";
    run_.opens = loose ? 1 : 0;
    if (direct() && !facts_.store) {  // an index is read by way of the page cache, which then has it
      run_.bytes -= its.index_bytes;
      run_.requests -= its.index_requests;
    }
    if (loose) {
      run_.requests = std::max(1.0, run_.requests);
    } else if (data.layout == "loose") {
      run_.requests = std::min(1.0, run_.requests);
      assume("a sample of a packed data set is read at once");
    }
    if (loose || known || order == facts_.run.order) return;
    if (order == "windowed" || order == "none") {
      run_.requests = std::min(run_.requests, run_.bytes / kWindowedReadBytes);
      assume("an order by windows reads about 1 MB at a time");
    } else if (facts_.run.order == "windowed" || facts_.run.order == "none") {
      run_.requests = std::max(run_.requests, 1.0);
      assume("in a global order each sample is a read of its own");
    }
  }

  // Loose files are never read past the page cache.
  bool direct() const { return facts_.run.direct && run_.opens == 0; }

  double memory() const { return static_cast<double>(change_.memory_bytes.value_or(facts_.machine.memory_bytes)); }

  // Of batches and of what is read ahead; at most the budget.
  double held_bytes() const {
    const std::vector<double>& crossing = facts_.copy.bytes_per_sample;
    double sample = facts_.cpu.stages.empty() ? 0 : facts_.cpu.stages.back().bytes_out;
    if (!crossing.empty()) sample = crossing.back();
    const double batches = (run_.prefetch + 2.0) * run_.batch * (sample + run_.bytes);
    const double held = run_.gpus * batches + run_.threads * kScratchBytes;
    const auto budget = static_cast<double>(facts_.run.memory_bytes) * run_.gpus;
    return budget > 0 ? std::min(budget, held) : held;
  }

  double decoded_bytes() const {
    double bytes = 0;
    for (const StageFacts& stage : facts_.cpu.stages) {
      if (stage.kind == "decode") bytes = stage.bytes_out;
    }
    return bytes;
  }

  // A cache's size is the run's, or what a loader would give it.
  double cache_bytes(std::string_view kind, double data) const {
    const auto given = static_cast<double>(facts_.run.cache == kind ? facts_.run.cache_bytes : 0);
    if (kind == "disk") return given > 0 ? given : data;
    if (given > 0 && !change_.memory_bytes) return given;
    if (given > 0 && memory() >= static_cast<double>(facts_.machine.memory_bytes)) {
      return std::max(given, std::min(data, kCachePart * memory()));
    }
    const double most = kCachePart * memory();
    return std::min(data, given > 0 ? std::min(given, most) : most);
  }

  void sources() {
    const DataFacts& data = facts_.data;
    const bool local = !facts_.store;
    (local ? run_.first.disk : run_.first.store) = 1;
    const std::string cache = change_.cache.value_or(facts_.run.cache);
    run_.keeps_decoded = cache == "decoded";
    const double kept_data = run_.keeps_decoded ? decoded_bytes() * static_cast<double>(data.samples) : data.bytes;
    double kept_bytes = 0;
    SampleSources& later = run_.later;
    if (cache == "ram" || run_.keeps_decoded) {
      kept_bytes = std::min(cache_bytes(cache, kept_data), kept_data);
      later.kept = hits_of_kept(cached_part(kept_bytes, kept_data));
    }
    double on_disk = 1 - later.kept;
    if (!local) {
      const double part = cache == "disk" ? cached_part(cache_bytes("disk", data.bytes), data.bytes) : 0;
      on_disk *= hits_of_kept(part);
      if (cache == "disk" && !facts_.storage && !change_.disk) assume("the cache's disk is a typical SATA SSD");
    }
    later.store = local ? 0 : 1 - later.kept - on_disk;
    pages(on_disk, kept_bytes);
  }

  // Of the samples on a disk, those whose pages are still in memory.
  void pages(double on_disk, double kept_bytes) {
    SampleSources& later = run_.later;
    later.disk = on_disk;
    if (facts_.storage && facts_.storage->device_class == "memory" && !change_.disk) {
      std::swap(later.page, later.disk);  // a file system in memory is all pages
      if (!facts_.store) std::swap(run_.first.page, run_.first.disk);
      return;
    }
    if (direct() || on_disk <= 0) return;
    const double left = kFreeForPages * memory() - run_.loader_bytes - kept_bytes;
    const double part = cached_part(left, on_disk * facts_.data.bytes);
    later.page = on_disk * hits_of_page_cache(part);
    later.disk = on_disk - later.page;
    run_.cache_error = on_disk * kPagesUnknown * (hits_of_kept(part) - hits_of_least_recent(part));
    if (part > 0 && part < 1) {
      assume(
          fmt::format("the page cache has room for {:.0f}% of the data and is taken to give {:.0f}% of the samples: "
                      "between a cache that never evicts and an LRU cache",
                      100 * part, 100 * hits_of_page_cache(part)));
    }
  }

  void assume(std::string sentence) { run_.assumptions.push_back(std::move(sentence)); }

  const Facts& facts_;
  const Configuration& change_;
  ResolvedRun run_;
};

}  // namespace

ResolvedRun resolve(const Facts& facts, const Configuration& change) { return Resolver(facts, change).resolve(); }

}  // namespace stoker
