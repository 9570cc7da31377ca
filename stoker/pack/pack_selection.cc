#include "stoker/pack/pack_selection.h"

#include <algorithm>
#include <set>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

std::int64_t label_named(const Dataset& dataset, const std::string& name) {
  const std::vector<std::string>& names = dataset.classes();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  const std::int64_t label = parse_number<std::int64_t>(name).value_or(-1);
  if (names.empty() && label >= 0) return label;
  if (names.empty())
    fail(ErrorKind::kUsage, "'{}' is not a class: the data set has no class names, so give numbers", name);
  fail(ErrorKind::kUsage, "there is no class '{}' in the data set, which has {}", name, names.size());
}

}  // namespace

PackSelection::PackSelection(const Dataset& dataset, const std::vector<std::string>& classes,
                             std::optional<std::uint64_t> shuffle, const std::stop_token& stop)
    : subset_(!classes.empty()), classes_(dataset.classes()), size_(dataset.size()) {
  if (subset_) {
    for (const std::string& name : classes) chosen_.push_back(label_named(dataset, name));
    std::sort(chosen_.begin(), chosen_.end());
    const auto twice = std::adjacent_find(chosen_.begin(), chosen_.end());
    if (twice != chosen_.end()) fail(ErrorKind::kUsage, "class {} is named twice", *twice);
    SampleRow row;
    std::set<std::int64_t> found;
    for (std::int64_t sample = 0; sample < dataset.size(); ++sample) {
      dataset.read(sample, row);
      stop_if_asked(stop, row.source->name());
      if (!takes(row.label)) continue;
      samples_.push_back(sample);
      found.insert(row.label);
    }
    for (const std::int64_t label : chosen_) {
      if (!found.contains(label)) fail(ErrorKind::kUsage, "there is no sample of class {} in the data set", label);
    }
    size_ = static_cast<std::int64_t>(samples_.size());
    if (!dataset.classes().empty()) {
      classes_.clear();
      for (const std::int64_t label : chosen_) {
        classes_.push_back(dataset.classes()[static_cast<std::size_t>(label)]);
      }
    }
  }
  if (shuffle && size_ > 0) shuffle_.emplace(static_cast<std::uint64_t>(size_), *shuffle, 0);
}

std::int64_t PackSelection::sample_at(std::int64_t position) const {
  const auto at = shuffle_ ? shuffle_->at(position) : position;
  return subset_ ? samples_[static_cast<std::size_t>(at)] : at;
}

std::int64_t PackSelection::label_of(std::int64_t label) const {
  if (!subset_ || label < 0) return label;
  return std::lower_bound(chosen_.begin(), chosen_.end(), label) - chosen_.begin();
}

}  // namespace stoker
