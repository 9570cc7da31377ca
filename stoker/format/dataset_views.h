// Data sets derived from others: a subset, other labels, a mixture. They hold numbers only; samples are read from the
// original data sets. Threads: any; what they return may be read by many, as any data set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker {

/// Calls `see` with each sample's row, in order. Throws what reading rows throws, and kClosed when asked to `stop`.
void for_each_row(const Dataset& data, const std::stop_token& stop,
                  const std::function<void(std::int64_t sample, const SampleRow& row)>& see);

/// The given samples, in the order of `data`, each once; those of streams are none. Throws kUsage for numbers that do
/// not exist, and for a subset of a mixture: take subsets first, then mix them.
std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> samples,
                                      const std::stop_token& stop = {});

/// The samples whose row is `wanted`.
std::vector<std::int64_t> samples_where(const Dataset& data, const std::function<bool(const SampleRow&)>& wanted,
                                        const std::stop_token& stop = {});
/// The samples with one of these keys, or with a file of one of these names; all of them if several have the same key.
/// Throws kUsage for a name that no sample has.
std::vector<std::int64_t> samples_of_keys(const Dataset& data, const std::vector<std::string>& names,
                                          const std::stop_token& stop = {});

/// The same samples with another field as their image: the one of that name, else "NAME.png" or the like, in lower
/// case.
std::shared_ptr<const Dataset> with_image(std::shared_ptr<const Dataset> data, std::string field,
                                          const std::stop_token& stop = {});

/// The same samples with other labels, one for each, and names of their classes, if they have any.
std::shared_ptr<const Dataset> with_labels(std::shared_ptr<const Dataset> data, std::vector<std::int64_t> labels,
                                           std::vector<std::string> classes, const std::stop_token& stop = {});

/// All samples of several data sets, drawn by weight: each data set gives exactly its weight's share of a run's
/// samples, in separate shuffled passes. Weights are positive and may have any sum; their ratios are kept to a
/// millionth. Throws kUsage for invalid weights and for streams, and kData for data sets without samples, with
/// different classes, or without a field in common.
std::shared_ptr<const Dataset> mix(const std::vector<std::shared_ptr<const Dataset>>& data,
                                   const std::vector<double>& weights);

}  // namespace stoker
