#include "stoker/format/dataset_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/units.h"
#include "stoker/format/fingerprint.h"
#include "stoker/format/member_name.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// Rows that are prepared together, so that what they need of an index is read together.
constexpr std::int64_t kRowsAtOnce = 1024;

/// Passes on all that a view does not change.
class View : public Dataset {
 public:
  explicit View(std::shared_ptr<const Dataset> data) : data_(std::move(data)) {}

  std::int64_t size() const override { return data_->size(); }
  const std::vector<std::string>& classes() const override { return data_->classes(); }
  const std::vector<std::string>& field_names() const override { return data_->field_names(); }
  void read(std::int64_t sample, SampleRow& into) const override { data_->read(sample, into); }
  void prepare(std::span<const std::int64_t> samples) const override { data_->prepare(samples); }
  std::vector<std::int64_t> shard_samples() const override { return data_->shard_samples(); }
  std::uint64_t bytes() const override { return data_->bytes(); }
  TrafficMeters meters() const override { return data_->meters(); }
  bool is_direct() const override { return data_->is_direct(); }
  std::int64_t streams() const override { return data_->streams(); }
  std::vector<std::uint64_t> field_sizes(std::string_view field) const override { return data_->field_sizes(field); }
  std::vector<MixPart> mixture() const override { return data_->mixture(); }
  std::uint64_t fingerprint() const override { return fingerprint_.value(); }

 protected:
  const Dataset& data() const { return *data_; }

  /// To be called once the view can be read.
  void take_stock(const std::stop_token& stop) {
    for_each_row(*this, stop, [this](std::int64_t, const SampleRow& row) { see(row); });
  }
  virtual void see(const SampleRow& row) { fingerprint_.add(row); }

 private:
  std::shared_ptr<const Dataset> data_;
  Fingerprint fingerprint_;
};

class Subset final : public View {
 public:
  Subset(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> samples, const std::stop_token& stop)
      : View(std::move(data)), samples_(std::move(samples)) {
    samples_.shrink_to_fit();
    take_stock(stop);
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  void read(std::int64_t sample, SampleRow& into) const override { data().read(number_of(sample), into); }
  void prepare(std::span<const std::int64_t> samples) const override {
    std::array<std::int64_t, 64> numbers;
    for (std::size_t first = 0; first < samples.size(); first += numbers.size()) {
      const std::size_t count = std::min(numbers.size(), samples.size() - first);
      for (std::size_t i = 0; i < count; ++i) numbers[i] = number_of(samples[first + i]);
      data().prepare(std::span(numbers).first(count));
    }
  }
  std::vector<std::int64_t> shard_samples() const override {
    std::vector<std::int64_t> counts;
    auto begin = samples_.begin();
    std::int64_t end_of_shard = 0;
    for (const std::int64_t all : data().shard_samples()) {
      end_of_shard += all;
      const auto end = std::lower_bound(begin, samples_.end(), end_of_shard);
      counts.push_back(end - begin);
      begin = end;
    }
    return counts;
  }
  std::uint64_t bytes() const override { return bytes_; }
  std::int64_t streams() const override { return 0; }  // those that are left do not continue each other

 private:
  std::int64_t number_of(std::int64_t sample) const { return samples_[static_cast<std::size_t>(sample)]; }
  void see(const SampleRow& row) override {
    View::see(row);
    bytes_ += row.bytes();
  }

  std::vector<std::int64_t> samples_;
  std::uint64_t bytes_ = 0;
};

class Relabelled final : public View {
 public:
  Relabelled(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> labels, std::vector<std::string> classes,
             const std::stop_token& stop)
      : View(std::move(data)), labels_(std::move(labels)), classes_(std::move(classes)) {
    take_stock(stop);
  }

  const std::vector<std::string>& classes() const override { return classes_; }
  void read(std::int64_t sample, SampleRow& into) const override {
    data().read(sample, into);
    into.label = labels_[static_cast<std::size_t>(sample)];
    into.relabelled = true;
  }

 private:
  std::vector<std::int64_t> labels_;
  std::vector<std::string> classes_;
};

class OtherImage final : public View {
 public:
  OtherImage(std::shared_ptr<const Dataset> data, std::string field, const std::stop_token& stop)
      : View(std::move(data)), field_(std::move(field)) {
    take_stock(stop);
  }

  void read(std::int64_t sample, SampleRow& into) const override {
    data().read(sample, into);
    into.choose_image(field_);
  }

 private:
  const std::string field_;
};

class Mixture final : public Dataset {
 public:
  Mixture(std::vector<std::shared_ptr<const Dataset>> data, const std::vector<std::int64_t>& weights)
      : data_(std::move(data)), first_samples_{0} {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      parts_.push_back({data_[i]->size(), weights[i]});
      first_samples_.push_back(first_samples_.back() + data_[i]->size());
      add_field_names(data_[i]->field_names(), field_names_);
    }
  }

  std::int64_t size() const override { return first_samples_.back(); }
  const std::vector<std::string>& classes() const override { return data_.front()->classes(); }
  const std::vector<std::string>& field_names() const override { return field_names_; }
  void read(std::int64_t sample, SampleRow& into) const override {
    const std::size_t part = part_of(sample);
    data_[part]->read(sample - first_samples_[part], into);
  }
  void prepare(std::span<const std::int64_t> samples) const override {
    std::array<std::int64_t, 64> numbers;
    for (std::size_t part = 0; part < data_.size(); ++part) {
      std::size_t count = 0;
      for (const std::int64_t sample : samples) {
        if (part_of(sample) != part) continue;
        numbers[count++] = sample - first_samples_[part];
        if (count == numbers.size()) data_[part]->prepare(std::span(numbers).first(std::exchange(count, 0)));
      }
      if (count > 0) data_[part]->prepare(std::span(numbers).first(count));
    }
  }
  std::vector<std::int64_t> shard_samples() const override {
    std::vector<std::int64_t> counts;
    for (const auto& data : data_) {
      const std::vector<std::int64_t> more = data->shard_samples();
      counts.insert(counts.end(), more.begin(), more.end());
    }
    return counts;
  }
  std::uint64_t bytes() const override {
    std::uint64_t sum = 0;
    for (const auto& data : data_) sum += data->bytes();
    return sum;
  }
  std::uint64_t fingerprint() const override {
    std::string all;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      all += fmt::format("{} {} {}\n", data_[i]->fingerprint(), parts_[i].samples, parts_[i].weight);
    }
    return hash64(all);
  }
  TrafficMeters meters() const override {
    TrafficMeters all;
    for (const auto& data : data_) add_meters(data->meters(), all);
    return all;
  }
  bool is_direct() const override {
    return std::any_of(data_.begin(), data_.end(), [](const auto& data) { return data->is_direct(); });
  }
  std::vector<std::uint64_t> field_sizes(std::string_view field) const override {
    std::vector<std::uint64_t> sizes;
    for (const auto& data : data_) {
      const std::vector<std::uint64_t> more = data->field_sizes(field);
      sizes.insert(sizes.end(), more.begin(), more.end());
    }
    return sizes;
  }
  std::vector<MixPart> mixture() const override { return parts_; }

 private:
  std::size_t part_of(std::int64_t sample) const {
    assert(sample >= 0 && sample < size());
    const auto next = std::upper_bound(first_samples_.begin(), first_samples_.end(), sample);
    return static_cast<std::size_t>(next - first_samples_.begin()) - 1;
  }

  std::vector<std::shared_ptr<const Dataset>> data_;
  std::vector<MixPart> parts_;
  std::vector<std::int64_t> first_samples_;  // before each part, and all samples last
  std::vector<std::string> field_names_;
};

/// The ratios of positive weights as whole numbers, as small as may be; empty if only large ones have them.
std::vector<std::int64_t> small_ratios(const std::vector<double>& weights) {
  constexpr int kMultipleMax = 1000;
  constexpr double kClose = 1e-9;
  const double least = *std::min_element(weights.begin(), weights.end());
  for (int multiple = 1; multiple <= kMultipleMax; ++multiple) {
    std::vector<std::int64_t> whole;
    for (const double weight : weights) {
      const double scaled = weight / least * multiple;
      if (std::abs(scaled - std::round(scaled)) > kClose * scaled) break;
      whole.push_back(std::llround(scaled));
    }
    if (whole.size() == weights.size()) return whole;
  }
  return {};
}

/// Whole numbers in the same ratios, or as close as millionths are.
std::vector<std::int64_t> whole_weights(const std::vector<double>& weights) {
  constexpr double kFineness = 1e6;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight <= 0) fail(ErrorKind::kUsage, "a weight must be positive, not {}", weight);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const double weight : weights) {
    if (weight / sum * kFineness >= 0.5) continue;
    fail(ErrorKind::kUsage, "a weight of {} in {} is less than a millionth", weight, sum);
  }
  std::vector<std::int64_t> whole = small_ratios(weights);
  if (!whole.empty()) return whole;
  for (const double weight : weights) whole.push_back(std::llround(weight / sum * kFineness));
  return whole;
}

std::string first_source_name(const Dataset& data) { return data.row(0).source->name(); }

/// Views of images take the image of a sample, whatever it is called.
bool has_images(const Dataset& data) {
  const std::vector<std::string>& names = data.field_names();
  return std::any_of(names.begin(), names.end(), is_image_field_name) || data.row(0).image_field();
}

/// A view takes its field from the samples of all parts.
void require_common_field(const Dataset& a, const Dataset& b) {
  const std::vector<std::string>&of_a = a.field_names(), &of_b = b.field_names();
  const auto is_of_b = [&](const std::string& name) { return std::find(of_b.begin(), of_b.end(), name) != of_b.end(); };
  if (std::any_of(of_a.begin(), of_a.end(), is_of_b) || (has_images(a) && has_images(b))) return;
  fail(ErrorKind::kData,
       "the parts of a mixture need a common field, but the samples of '{}' have {}, and those of '{}' have {}; write "
       "all parts with the same field",
       first_source_name(a), fmt::join(of_a, ", "), first_source_name(b), fmt::join(of_b, ", "));
}

}  // namespace

void for_each_row(const Dataset& data, const std::stop_token& stop,
                  const std::function<void(std::int64_t sample, const SampleRow& row)>& see) {
  std::vector<std::int64_t> next;
  SampleRow row;
  for (std::int64_t first = 0; first < data.size(); first += kRowsAtOnce) {
    if (stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while samples were listed");
    next.resize(static_cast<std::size_t>(std::min(kRowsAtOnce, data.size() - first)));
    std::iota(next.begin(), next.end(), first);
    data.prepare(next);
    for (const std::int64_t sample : next) {
      data.read(sample, row);
      see(sample, row);
    }
  }
}

std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> samples,
                                      const std::stop_token& stop) {
  if (!data->mixture().empty()) {
    fail(ErrorKind::kUsage, "a mixture has no subsets; take subsets of its parts, then mix them");
  }
  std::sort(samples.begin(), samples.end());
  samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
  if (!samples.empty() && (samples.front() < 0 || samples.back() >= data->size())) {
    fail(ErrorKind::kUsage, "there is no sample {}: the data set has {}",
         samples.front() < 0 ? samples.front() : samples.back(), data->size());
  }
  return std::make_shared<Subset>(std::move(data), std::move(samples), stop);
}

std::vector<std::int64_t> samples_where(const Dataset& data, const std::function<bool(const SampleRow&)>& wanted,
                                        const std::stop_token& stop) {
  std::vector<std::int64_t> samples;
  for_each_row(data, stop, [&](std::int64_t sample, const SampleRow& row) {
    if (wanted(row)) samples.push_back(sample);
  });
  return samples;
}

std::vector<std::int64_t> samples_of_keys(const Dataset& data, const std::vector<std::string>& names,
                                          const std::stop_token& stop) {
  std::unordered_map<std::string, bool> found;  // by key
  for (const std::string& name : names) {
    for (std::string& key : keys_of_name(name)) found.emplace(std::move(key), false);
  }
  std::vector<std::int64_t> samples = samples_where(
      data,
      [&](const SampleRow& row) {
        const auto wanted = found.find(row.key);
        if (wanted != found.end()) wanted->second = true;
        return wanted != found.end();
      },
      stop);
  const auto is_missing = [&](std::string_view name) {
    const std::vector<std::string> keys = keys_of_name(name);
    return std::none_of(keys.begin(), keys.end(), [&](const std::string& key) { return found[key]; });
  };
  const auto missing = std::find_if(names.begin(), names.end(), is_missing);
  if (missing != names.end()) {
    const std::unordered_set<std::string_view> distinct(names.begin(), names.end());
    const auto count = std::count_if(distinct.begin(), distinct.end(), is_missing);
    fail(ErrorKind::kUsage, "{} of {} not in the data set; the first is '{}'", count, counted(distinct.size(), "key"),
         *missing);
  }
  return samples;
}

std::shared_ptr<const Dataset> with_labels(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> labels,
                                           std::vector<std::string> classes, const std::stop_token& stop) {
  if (static_cast<std::int64_t>(labels.size()) != data->size()) {
    fail(ErrorKind::kUsage, "{} for {}; give one label for each sample", counted(labels.size(), "label"),
         counted(data->size(), "sample"));
  }
  const auto classes_end = static_cast<std::int64_t>(classes.size());
  for (const std::int64_t label : labels) {
    if (label < classes_end || classes.empty()) continue;
    fail(ErrorKind::kUsage, "a label is {}, but the last of the {} given classes is {}", label, classes_end,
         classes_end - 1);
  }
  return std::make_shared<Relabelled>(std::move(data), std::move(labels), std::move(classes), stop);
}

std::shared_ptr<const Dataset> with_image(std::shared_ptr<const Dataset> data, std::string field,
                                          const std::stop_token& stop) {
  return std::make_shared<OtherImage>(std::move(data), std::move(field), stop);
}

std::shared_ptr<const Dataset> mix(const std::vector<std::shared_ptr<const Dataset>>& data,
                                   const std::vector<double>& weights) {
  if (data.empty() || data.size() != weights.size()) {
    fail(ErrorKind::kUsage, "{} and {} were given; a mixture needs a data set, and one weight for each",
         counted(data.size(), "data set"), counted(weights.size(), "weight"));
  }
  for (const auto& part : data) {
    if (part->size() == 0) fail(ErrorKind::kData, "a data set without samples cannot be mixed with others");
    if (!part->mixture().empty()) fail(ErrorKind::kUsage, "mix all data sets at once: a mixture cannot be mixed again");
    if (part->streams() > 0) {
      fail(ErrorKind::kUsage,
           "streams cannot be mixed, since each sample continues another; open the data without streams");
    }
    require_same_classes(first_source_name(*data.front()), data.front()->classes(), first_source_name(*part),
                         part->classes());
    require_common_field(*data.front(), *part);
  }
  return std::make_shared<Mixture>(data, whole_weights(weights));
}

}  // namespace stoker
