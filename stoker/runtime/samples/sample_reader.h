// Reads single samples of a data set, for code that needs only a few.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/format/dataset.h"
#include "stoker/format/sample_row.h"
#include "stoker/plan/plan.h"
#include "stoker/plan/sample_executor.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// Like stoker::open, but a data set without samples is an error (kData).
std::shared_ptr<const Dataset> open_samples(const std::vector<std::string>& data, const OpenOptions& options = {});

/// The samples at the first `count` positions of epoch 0 in global order; fewer if there are not as many.
std::vector<std::int64_t> first_samples(const Dataset& dataset, std::uint64_t seed, std::int64_t count);

/// The positions of these samples in an epoch in global order.
std::vector<std::int64_t> positions_of(const std::vector<std::int64_t>& samples, const Dataset& dataset,
                                       std::uint64_t seed, std::int64_t epoch);

/// Reads what a plan needs of a sample. Data set and plan must outlive it.
class SampleReader {
 public:
  SampleReader(const Dataset& dataset, const Plan& plan) : dataset_(dataset), plan_(plan) {}

  /// The fields, in the order of Plan::fields(); valid until the next call. Throws kBadSample when the sample lacks a
  /// field, kIo.
  std::span<const Bytes> read(std::int64_t sample);
  /// The same, with everything else that an executor needs to know about the sample.
  SampleInput input(std::int64_t sample, const SampleDraw& draw);
  /// The row of the sample that was read last.
  const SampleRow& row() const { return row_; }

 private:
  Bytes read_entry_points();

  const Dataset& dataset_;
  const Plan& plan_;
  SampleRow row_;
  std::vector<std::vector<std::uint8_t>> memory_;
  std::vector<Bytes> fields_;
  std::vector<std::uint8_t> entry_points_;
};

/// Calls `work`; an Error it throws gets the sample's name put before it.
template <typename Work>
void on_sample(const Dataset& dataset, std::int64_t sample, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw error.with_context(dataset.describe(sample));
  }
}

}  // namespace stoker
