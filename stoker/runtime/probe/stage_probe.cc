#include "stoker/runtime/probe/stage_probe.h"

#include <array>

#include "stoker/base/clock.h"

namespace stoker {

class StageProbe::View {
 public:
  View(const ViewPlan& view, const DecodeLimits& limits) : view_(view), stages_(limits) {}

  void measure(const SampleInput& sample) {
    const bool by_entry_points = view_.field == sample.entry_points_of;
    const std::int64_t began = now_ns();
    const StageOutputs outputs = stages_.begin(view_, sample.fields[static_cast<std::size_t>(view_.field)], sample.draw,
                                               by_entry_points ? sample.entry_points : Bytes());
    stages_.path().decode();
    ++decoded_;
    const std::int64_t decoded_at = now_ns();
    resized_.resize(outputs.geometry.bytes());
    tensor_.resize(outputs.color.bytes());
    const MutableImageView resized = stages_.path().resized_view(resized_.data());
    const std::int64_t geometry_at = now_ns();
    stages_.path().geometry(resized);
    const std::int64_t color_at = now_ns();
    stages_.color(resized, tensor_.data());
    const std::int64_t ended = now_ns();
    last_ = {Sum{decoded_at - began, outputs.decode.bytes()}, Sum{color_at - geometry_at, resized_.size()},
             Sum{ended - color_at, tensor_.size()}};
  }

  /// The last measurement belongs to a good sample.
  void count() {
    ++samples_;
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      sums_[i].ns += last_[i].ns;
      sums_[i].bytes_out += last_[i].bytes_out;
    }
  }

  std::int64_t by_entry_points() const { return stages_.plane_decodes().by_entry_points; }
  std::int64_t decoded() const { return decoded_; }

  void append_costs(std::vector<StageCost>& costs) const {
    const double samples = static_cast<double>(samples_ > 0 ? samples_ : 1);
    for (const Sum& sum : sums_) {
      costs.push_back({static_cast<double>(sum.ns) * 1e-3 / samples, static_cast<double>(sum.bytes_out) / samples});
    }
  }

 private:
  struct Sum {
    std::int64_t ns = 0;
    std::size_t bytes_out = 0;
  };

  const ViewPlan& view_;
  ImageStages stages_;
  std::vector<std::uint8_t> resized_, tensor_;
  std::array<Sum, kStages.size()> last_{}, sums_{};
  std::int64_t samples_ = 0, decoded_ = 0;
};

StageProbe::StageProbe(const Plan& plan, const DecodeLimits& limits) : plan_(plan) {
  for (const ViewPlan& view : plan.views()) {
    if (view.kind == ViewKind::kImage) views_.push_back(std::make_unique<View>(view, limits));
  }
}

StageProbe::~StageProbe() = default;

void StageProbe::measure(const SampleInput& sample) {
  const std::int64_t began = now_ns();
  // Numbers cost next to nothing, but a sample may be bad by them.
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind == ViewKind::kImage) continue;
    number_.resize(Plan::output_of(view, Plan::number_shape_of(view)).bytes_per_sample());
    write_number(view, sample, number_);
  }
  for (const auto& view : views_) view->measure(sample);
  for (const auto& view : views_) view->count();
  last_ns_ = now_ns() - began;
}

double StageProbe::indexed() const {
  std::int64_t by_entry_points = 0, decoded = 0;
  for (const auto& view : views_) {
    by_entry_points += view->by_entry_points();
    decoded += view->decoded();
  }
  return decoded > 0 ? static_cast<double>(by_entry_points) / static_cast<double>(decoded) : 0;
}

std::vector<StageCost> StageProbe::costs() const {
  std::vector<StageCost> costs;
  for (const auto& view : views_) view->append_costs(costs);
  return costs;
}

}  // namespace stoker
