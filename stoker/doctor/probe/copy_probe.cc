#include "stoker/doctor/probe/copy_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/topology.h"
#include "stoker/device/device.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/probe/crossing_probe.h"

namespace stoker {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{64} << 20, kCopiesEach = 4;
constexpr int kCopyTries = 7, kCopyTriesQuick = 3;
constexpr std::size_t kSamplesCrossing = 64;
constexpr std::int64_t kCopyPatienceNs = 1'000'000'000;

/// What a device is to copy, from memory of this allocator, as its batches are copied.
struct CopyWork {
  CopyWork(Device& on, Allocator& from) : device(on), host(from, kCopyBytes), there(on.memory(), kCopyBytes) {
    std::memset(host.data(), 1, host.size());
    task.copies_in.assign(kCopiesEach, {.to = there.data(), .from = host.data(), .bytes = kCopyBytes});
  }

  Device& device;
  Memory host, there;
  DeviceTask task;
};

/// All of them at once; of all together.
Figure time_copies(const std::vector<CopyWork>& works, const ProbeLimits& limits) {
  const auto bytes = static_cast<double>(works.size() * kCopiesEach * kCopyBytes);
  std::vector<double> rates;
  for (int i = -1; i < limits.pick(kCopyTries, kCopyTriesQuick); ++i) {
    limits.check();
    const std::int64_t began_ns = now_ns();
    std::vector<std::shared_ptr<DeviceEvent>> events;
    events.reserve(works.size());
    for (const CopyWork& work : works) events.push_back(work.device.submit(work.task, {}));
    for (const auto& event : events) {
      while (!event->wait_for(kCopyPatienceNs)) continue;  // the memory is the device's until then
    }
    const auto took_s = static_cast<double>(std::max<std::int64_t>(now_ns() - began_ns, 1)) * 1e-9;
    if (i >= 0) rates.push_back(bytes / took_s);  // the first warms up
  }
  Figure figure = figure_of(std::move(rates));
  figure.caveat = works.front().device.caveat();
  return figure;
}

Figure time_copies(Device& device, Allocator& from, const ProbeLimits& limits) {
  std::vector<CopyWork> works;
  works.emplace_back(device, from);
  return time_copies(works, limits);
}

/// Of the first `gpus` GPUs, if there are several.
void time_together(int gpus, const ProbeLimits& limits, CopyFacts& facts) {
  std::vector<std::shared_ptr<Device>> devices;
  for (int i = 0; i < gpus; ++i) {
    try {
      devices.push_back(open_device(fmt::format("cuda:{}", i)));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNotFound && error.kind() != ErrorKind::kUsage) throw;
      break;
    }
  }
  if (devices.size() < 2) return;
  std::vector<CopyWork> works;
  works.reserve(devices.size());
  for (const auto& device : devices) works.emplace_back(*device, device->staging());
  facts.together_bytes_per_s = time_copies(works, limits);
  facts.together = static_cast<int>(devices.size());
}

/// With this thread, and therefore the memory that it touches first, on the cores that are not near the device.
Figure time_far_copies(Device& device, const ProbeLimits& limits) {
  const std::vector<int> all = allowed_cores(), near = cores_near(device.bus_id()).cores;
  if (near.empty()) return {};
  std::vector<int> far;
  std::set_difference(all.begin(), all.end(), near.begin(), near.end(), std::back_inserter(far));
  if (far.empty() || !run_on(far)) return {};
  struct Return {
    const std::vector<int>& cores;
    ~Return() { run_on(cores); }
  } const back{all};
  return time_copies(device, device.staging(), limits);
}

}  // namespace

CopyFacts probe_copy(const Dataset& dataset, const Plan& plan, const LoaderOptions& loader,
                     std::span<const std::int64_t> samples, int gpus, const ProbeLimits& limits) {
  CopyFacts facts;
  if (!loader.device) return facts;
  Device& device = *loader.device;
  facts.device = device.name();
  facts.pinned_bytes_per_s = time_copies(device, device.staging(), limits);
  // An emulated device has no other way.
  if (!device.memory_is_host()) facts.pageable_bytes_per_s = time_copies(device, host_allocator(), limits);
  if (!device.bus_id().empty()) facts.far_bytes_per_s = time_far_copies(device, limits);
  if (device.gpu() >= 0 && gpus > 1) time_together(gpus, limits, facts);
  samples = samples.first(std::min(samples.size(), kSamplesCrossing));
  if (samples.empty()) return facts;
  const DeviceSide side = {.device = &device, .plan = &plan, .image_bytes = mean_sample_bytes(dataset)};
  CrossingProbe probe(dataset, plan, side, static_cast<int>(samples.size()), nullptr, loader.limits);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    limits.check();
    const CrossingCost cost = probe.measure(index, samples, loader.seed);
    facts.bytes_per_sample.push_back(cost.bytes_to_device);
    facts.cpu_s_per_sample.push_back(cost.cpu_us * 1e-6);
    facts.device_s.push_back(cost.device_us ? std::optional(*cost.device_us * 1e-6) : std::nullopt);
  }
  return facts;
}

}  // namespace stoker
