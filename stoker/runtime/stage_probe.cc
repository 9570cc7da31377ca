#include "stoker/runtime/stage_probe.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "stoker/base/clock.h"
#include "stoker/plan/image_stages.h"
#include "stoker/runtime/sample_reader.h"

namespace stoker {
namespace {

constexpr std::size_t kStagesPerImage = 3;  // decode, geometry, color

struct StageSamples {
  std::vector<double> cpu_us;
  std::vector<double> bytes_out;

  void add(std::int64_t ns, std::size_t bytes) {
    cpu_us.push_back(static_cast<double>(ns) * 1e-3);
    bytes_out.push_back(static_cast<double>(bytes));
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Takes samples through the stages of one view, each apart.
class ViewProbe {
 public:
  explicit ViewProbe(const ViewPlan& view) : view_(view) {}

  void measure(Bytes encoded, const SampleDraw& draw) {
    const std::int64_t began = now_ns();
    const StageOutputs outputs = stages_.begin(view_, encoded, draw);
    stages_.decode();
    const std::int64_t decoded_at = now_ns();
    resized_.resize(outputs.geometry.bytes());
    tensor_.resize(outputs.color.bytes());
    const MutableImageView resized = stages_.resized_view(resized_.data());
    const std::int64_t geometry_at = now_ns();
    stages_.geometry(resized);
    const std::int64_t color_at = now_ns();
    stages_.color(resized, tensor_.data());
    const std::int64_t ended = now_ns();

    samples_[0].add(decoded_at - began, outputs.decode.bytes());
    samples_[1].add(color_at - geometry_at, resized_.size());
    samples_[2].add(ended - color_at, tensor_.size());
  }

  void append_costs(std::vector<StageCost>& costs) const {
    for (const StageSamples& stage : samples_) costs.push_back({median(stage.cpu_us), mean(stage.bytes_out)});
  }

  const ViewPlan& view() const { return view_; }

 private:
  const ViewPlan& view_;
  ImageStages stages_;
  std::vector<std::uint8_t> resized_, tensor_;
  std::array<StageSamples, kStagesPerImage> samples_;
};

}  // namespace

std::vector<StageCost> measure_stages(const Dataset& dataset, const Plan& plan,
                                      const std::vector<std::int64_t>& samples, std::uint64_t seed,
                                      const std::function<void(std::int64_t)>& measured) {
  std::vector<std::unique_ptr<ViewProbe>> probes;
  for (const ViewPlan& view : plan.views()) {
    if (view.kind == ViewKind::kImage) probes.push_back(std::make_unique<ViewProbe>(view));
  }
  assert(!samples.empty() && plan.stages().size() == probes.size() * kStagesPerImage);
  SampleReader reader(dataset, plan);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    on_sample(dataset, samples[i], [&] {
      const std::span<const Bytes> fields = reader.read(samples[i]);
      for (const auto& probe : probes) {
        probe->measure(fields[static_cast<std::size_t>(probe->view().field)],
                       {.seed = seed, .epoch = 0, .position = i});
      }
    });
    measured(static_cast<std::int64_t>(i) + 1);
  }
  std::vector<StageCost> costs;
  for (const auto& probe : probes) probe->append_costs(costs);
  return costs;
}

}  // namespace stoker
