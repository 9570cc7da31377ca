// A data set: samples, each with its key, its label, the places of its fields, and facts from an index. Immutable once
// opened; any number of threads may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/sample_row.h"
#include "stoker/storage/store_traffic.h"

namespace stoker {

/// One part of a mixture: its samples are consecutive, and the share `weight` / (sum of all weights) of a run's samples
/// is drawn from it.
struct MixPart {
  std::int64_t samples = 0;
  std::int64_t weight = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;

  /// Class names by label, when the data set names its classes (a folder does); otherwise empty.
  virtual const std::vector<std::string>& classes() const = 0;
  /// Names of the fields of all samples, in order of first appearance: "jpg", "cls", ...
  virtual const std::vector<std::string>& field_names() const = 0;

  /// Replaces `into` by the row of a sample; allocates nothing in the steady state. May read from an index: throws
  /// kNotFound, kIo, and kData for a damaged shard or index.
  virtual void read(std::int64_t sample, SampleRow& into) const = 0;
  /// Fetches together the parts of indexes that reading these samples' rows will need. Errors are thrown when a row is
  /// read.
  virtual void prepare(std::span<const std::int64_t> samples) const = 0;

  /// The number of samples of each shard, in order; a folder is one shard.
  virtual std::vector<std::int64_t> shard_samples() const = 0;
  /// Bytes of all fields of all samples.
  virtual std::uint64_t bytes() const = 0;

  /// Changes with the samples, their order, their images' sizes and their labels, but not with their places, so that a
  /// folder and its tars have the same fingerprint.
  virtual std::uint64_t fingerprint() const = 0;

  /// What counts the requests to stores over a network that the samples, their indexes and lists come from; empty if
  /// all of them are local.
  virtual TrafficMeters meters() const { return {}; }

  /// Whether its samples are to be read past the page cache, also from copies of its objects on a disk.
  virtual bool is_direct() const { return false; }

  /// How many streams the samples are: sample i + streams() continues where sample i ended. 0: samples do not continue.
  virtual std::int64_t streams() const { return 0; }
  /// The size in bytes of a field that has the same size in all samples; empty where it is not known. A mixture has one
  /// for each part that knows it.
  virtual std::vector<std::uint64_t> field_sizes(std::string_view /*field*/) const { return {}; }

  /// The parts of a mixture; empty for a data set that is not a mixture.
  virtual std::vector<MixPart> mixture() const { return {}; }

  /// Like read(), for code where speed does not matter.
  SampleRow row(std::int64_t sample) const;
  std::string key(std::int64_t sample) const { return row(sample).key; }
  std::int64_t label(std::int64_t sample) const { return row(sample).label; }
  /// "train-003.tar, sample 'n01/img7'": for messages.
  std::string describe(std::int64_t sample) const;
};

/// Of a data set that is not empty.
inline std::uint64_t mean_sample_bytes(const Dataset& dataset) {
  return dataset.bytes() / static_cast<std::uint64_t>(dataset.size());
}

/// "train-003.tar, sample 'n01/img7'": for messages.
std::string describe(const SampleRow& row);

/// Class numbers mean the same everywhere in a data set: throws kData if the parts that it is concatenated from, with
/// these names, have different classes.
void require_same_classes(const std::string& a, const std::vector<std::string>& of_a, const std::string& b,
                          const std::vector<std::string>& of_b);

/// Adds those that `into` lacks.
void add_field_names(const std::vector<std::string>& names, std::vector<std::string>& into);

}  // namespace stoker
