#include "stoker/runtime/engine/batch_step.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace stoker {
namespace {

// Hands the batch over to the device, which goes on with it after this returns.
class Crossing final : public BatchStep {
 public:
  explicit Crossing(MetricCounters& metrics) : metrics_(metrics) {}

  void run(LoaderBatch& batch) override {
    if (const std::optional<std::int64_t> step_ns = batch.step_ns()) {
      metrics_.add(Metric::kConsumerDeviceSteps, 1);
      metrics_.add(Metric::kConsumerDeviceStepNs, *step_ns);
    }
    batch.cross();
    metrics_.add(Metric::kBytesToDevice, static_cast<std::int64_t>(batch.bytes_to_device()));
  }

 private:
  MetricCounters& metrics_;
};

// A batch that crosses is sealed there, before it is copied.
class Sealing final : public BatchStep {
 public:
  void run(LoaderBatch& batch) override { batch.seal(); }
};

}  // namespace

std::vector<std::unique_ptr<BatchStep>> batch_steps(const std::vector<OutputSpec>& outputs, const Device* device,
                                                    MetricCounters& metrics) {
  std::vector<std::unique_ptr<BatchStep>> steps;
  const auto is_dense = [](const OutputSpec& output) { return output.arrangement == &dense_arrangement(); };
  if (device) {
    steps.push_back(std::make_unique<Crossing>(metrics));
  } else if (!std::all_of(outputs.begin(), outputs.end(), is_dense)) {
    steps.push_back(std::make_unique<Sealing>());
  }
  return steps;
}

}  // namespace stoker
