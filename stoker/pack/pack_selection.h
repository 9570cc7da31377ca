// The samples of a data set that are packed, their order, and the numbers of their classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/order/permutation.h"

namespace stoker {

class PackSelection {
 public:
  /// `classes`: names, or numbers where the data set names no classes; empty: all. Throws kUsage for one that is not
  /// there or is named twice, kClosed when asked to stop. The data set must outlive it.
  PackSelection(const Dataset& dataset, const std::vector<std::string>& classes, std::optional<std::uint64_t> shuffle,
                const std::stop_token& stop = {});

  std::int64_t size() const { return size_; }
  /// The sample at a position of the packed data set.
  std::int64_t sample_at(std::int64_t position) const;
  /// Whether samples with this label are packed.
  bool takes(std::int64_t label) const { return !subset_ || std::binary_search(chosen_.begin(), chosen_.end(), label); }
  /// The class's number in the packed data set.
  std::int64_t label_of(std::int64_t label) const;
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  bool subset_ = false;
  std::vector<std::int64_t> chosen_;   // labels, in the order of their new numbers
  std::vector<std::int64_t> samples_;  // of a subset
  std::vector<std::string> classes_;
  std::int64_t size_ = 0;
  std::optional<Permutation> shuffle_;
};

}  // namespace stoker
