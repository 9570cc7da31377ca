#include "stoker/runtime/probe/crossing_probe.h"

#include <memory>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

constexpr std::int64_t kPatienceNs = 1'000'000'000;

}  // namespace

CrossingProbe::CrossingProbe(const Dataset& dataset, const Plan& plan, const DeviceSide& side, int slots,
                             ScratchGate* gate, const DecodeLimits& limits)
    : dataset_(dataset),
      plan_(plan),
      device_(*side.device),
      gate_(gate),
      reader_(dataset, plan),
      executor_(plan, limits, gate),
      kept_(plan, 1),
      out_(device_.memory(), batch_bytes(plan.outputs(), slots)),
      batch_(plan, slots, side.image_bytes, device_, out_.data(), side.nvjpeg) {}

CrossingCost CrossingProbe::measure(int transfer_index, std::span<const std::int64_t> samples, std::uint64_t seed) {
  measure_once(transfer_index, samples, seed);
  return measure_once(transfer_index, samples, seed);
}

CrossingCost CrossingProbe::measure_once(int transfer_index, std::span<const std::int64_t> samples,
                                         std::uint64_t seed) {
  batch_.set_outputs(plan_.outputs({.seed = seed}));
  batch_.start(transfer_index, static_cast<int>(samples.size()));
  std::int64_t cpu_ns = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    on_sample(dataset_, samples[i], [&] {
      const SampleInput input = reader_.input(samples[i], {.seed = seed, .epoch = 0, .position = i});
      const std::int64_t began = now_ns();
      executor_.run(input, batch_, static_cast<int>(i),
                    [this](std::size_t view, const Shape& /*shape*/) { return kept_.place(view, 0); });
      cpu_ns += now_ns() - began;
    });
    if (gate_) gate_->drop_too_much(executor_);
  }
  const std::shared_ptr<DeviceEvent> event = device_.submit(batch_.seal(), {});
  while (!event->wait_for(kPatienceNs)) continue;
  const auto count = static_cast<double>(samples.size());
  CrossingCost cost{.cpu_us = static_cast<double>(cpu_ns) * 1e-3 / count,
                    .bytes_to_device = static_cast<double>(batch_.bytes_to_device()) / count,
                    .device_us = {}};
  if (event->busy_ns() > 0 || transfer_index == kTransferIndexMax) {
    cost.device_us = static_cast<double>(event->busy_ns()) * 1e-3 / count;
  }
  return cost;
}

}  // namespace stoker
