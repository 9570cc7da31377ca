#include "stoker/tuner/report/chart_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

constexpr double kCharacterPixels = 7;  // of the widest digits that a browser may choose for 11 px
constexpr double kLabelsApart = 12;     // pixels

// The least 1, 2 or 5 times a power of ten that is no less.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double times : {1, 2, 5}) {
    if (times * power >= value * (1 - 1e-9)) return times * power;
  }
  return 10 * power;
}

// Within what powers of ten can be told of.
double sane(double most) { return std::isfinite(most) && most > 1e-12 ? std::min(most, 1e300) : 1; }

// A step is round in the unit that its ticks are written in.
std::string time_label(double seconds, double step) {
  if (seconds == 0) return "0";
  if (step >= 1e9) return fmt::format("{:.3g} s", seconds);
  if (step < 1) return fmt::format("{:.6g} s", seconds);
  const auto whole = std::llround(seconds);
  if (step < 60) {
    if (whole < 60) return fmt::format("{} s", whole);
    return whole % 60 == 0 && whole < 3600 ? fmt::format("{} min", whole / 60)
                                           : fmt::format("{}:{:02} min", whole / 60, whole % 60);
  }
  if (step < 3600) {
    if (whole < 3600) return fmt::format("{} min", whole / 60);
    return whole % 3600 == 0 ? fmt::format("{} h", whole / 3600)
                             : fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
  }
  return step < 86400 ? fmt::format("{} h", whole / 3600) : fmt::format("{} d", whole / 86400);
}

double next_time_step(double step) {
  constexpr double kSteps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                               600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
  if (step < 1) return std::min(1.0, round_up(1.01 * step));
  const double* const found = std::upper_bound(std::begin(kSteps), std::end(kSteps), step);
  return found == std::end(kSteps) ? 86400 * round_up(1.01 * step / 86400) : *found;
}

}  // namespace

double label_width(const std::string& label) {
  // A character's later bytes take no room.
  return kCharacterPixels * static_cast<double>(std::count_if(label.begin(), label.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
         }));
}

ChartScale ChartScale::from_zero(double most, int ticks, double pixels) {
  ChartScale scale;
  scale.pixels_ = pixels;
  const double step = round_up(sane(most) / ticks);
  const int steps = static_cast<int>(std::ceil(sane(most) / step - 1e-9));
  for (int i = 0; i <= steps; ++i) scale.ticks_.push_back({i * step, number_text(i * step)});
  scale.most_ = steps * step;
  return scale;
}

ChartScale ChartScale::counts(int most, int ticks, double pixels) {
  ChartScale scale = from_zero(std::max(most, ticks), ticks, pixels);
  if (most >= ticks) {
    for (ChartTick& tick : scale.ticks_) tick.label = count_text(std::llround(tick.value));
    return scale;
  }
  // So few that each has its tick: no room is left above.
  scale.ticks_.clear();
  for (int i = 0; i <= std::max(1, most); ++i) scale.ticks_.push_back({static_cast<double>(i), count_text(i)});
  scale.most_ = scale.ticks_.back().value;
  return scale;
}

ChartScale ChartScale::doublings(int most, int ticks, double pixels) {
  ChartScale scale;
  scale.pixels_ = pixels;
  scale.doublings_ = true;
  const int all = static_cast<int>(std::ceil(std::log2(std::max(2, most))));
  const int step = (all + ticks - 1) / ticks;
  for (int i = 0; i < all + step; i += step) scale.ticks_.push_back({std::exp2(i), count_text(std::int64_t{1} << i)});
  scale.most_ = scale.ticks_.back().value;
  return scale;
}

ChartScale ChartScale::time(double seconds, double pixels) {
  ChartScale scale;
  scale.pixels_ = pixels;
  scale.most_ = sane(seconds);
  for (double step = next_time_step(scale.most_ / 200);; step = next_time_step(step)) {
    scale.ticks_.clear();
    double widest = 0;
    for (int i = 0; i * step <= scale.most_ * (1 + 1e-9); ++i) {
      scale.ticks_.push_back({i * step, time_label(i * step, step)});
      widest = std::max(widest, label_width(scale.ticks_.back().label));
    }
    if (scale.ticks_.size() < 2 || scale.at(step) >= widest + kLabelsApart) return scale;
  }
}

ChartScale ChartScale::share(double most, int ticks, double pixels) {
  ChartScale scale = from_zero(most > 0.05 ? std::min(most, 1.0) : 0.05, ticks, pixels);
  for (ChartTick& tick : scale.ticks_) tick.label = fmt::format("{:.4g}%", 100 * tick.value);
  return scale;
}

double ChartScale::at(double value) const {
  const double part = doublings_ ? std::log2(std::max(value, 1.0)) / std::log2(most_) : value / most_;
  return pixels_ * std::clamp(part, 0.0, 1.0);
}

}  // namespace stoker
