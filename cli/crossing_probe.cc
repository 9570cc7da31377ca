#include "cli/crossing_probe.h"

#include "cli/sample_reader.h"
#include "stoker/base/clock.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"

namespace stoker {
namespace {

// The index of the plan's field that holds the image; -1 without one.
int image_field_of(const Plan& plan, const SampleReader& reader) {
  const SampleField* const image = reader.row().image_field();
  for (std::size_t i = 0; i < plan.fields().size(); ++i) {
    if (image && reader.row().find(plan.fields()[i]) == image) return static_cast<int>(i);
  }
  return -1;
}

CrossingCost measure(const Dataset& dataset, const Plan& plan, const std::vector<std::int64_t>& samples,
                     std::uint64_t seed, Device& device, DeviceBatch& batch) {
  SampleReader reader(dataset, plan);
  CpuExecutor executor(plan);
  std::int64_t cpu_ns = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    on_sample(dataset, samples[i], [&] {
      const std::span<const Bytes> fields = reader.read(samples[i]);
      const Bytes points = reader.read_entry_points();
      const SampleInput input{.fields = fields,
                              .entry_points = points,
                              .entry_points_of = points.empty() ? -1 : image_field_of(plan, reader),
                              .label = reader.row().label,
                              .draw = {.seed = seed, .epoch = 0, .position = i}};
      const std::int64_t began = now_ns();
      executor.run(input, batch, static_cast<int>(i));
      cpu_ns += now_ns() - began;
    });
  }
  const std::shared_ptr<DeviceEvent> event = device.submit(batch.seal(), {});
  while (!event->wait_for(1'000'000'000)) continue;
  const auto count = static_cast<double>(samples.size());
  CrossingCost cost{.cpu_us = static_cast<double>(cpu_ns) * 1e-3 / count,
                    .bytes_to_device = static_cast<double>(batch.bytes_to_device()) / count,
                    .device_us = {}};
  if (event->busy_ns() > 0 || batch.transfer_index() == kTransferIndexMax) {
    cost.device_us = static_cast<double>(event->busy_ns()) * 1e-3 / count;
  }
  return cost;
}

}  // namespace

std::vector<CrossingCost> measure_crossings(const Dataset& dataset, const Plan& plan,
                                            const std::vector<std::int64_t>& samples, std::uint64_t seed,
                                            Device& device) {
  const int slots = static_cast<int>(samples.size());
  const Memory out(device.memory(), batch_bytes(plan.outputs(), slots));
  DeviceBatch batch(plan, slots, mean_sample_bytes(dataset), device, out.data());
  std::vector<CrossingCost> costs;
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    batch.start(index);  // once to warm up
    measure(dataset, plan, samples, seed, device, batch);
    batch.start(index);
    costs.push_back(measure(dataset, plan, samples, seed, device, batch));
  }
  return costs;
}

}  // namespace stoker
