// A data set: samples, each with its key, its label, the places of its fields, and facts from an index. Immutable once
// opened; any number of threads may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/format/sample_row.h"

namespace stoker {

/// One of the data sets that are mixed: its samples stand together, and `weight` in the sum of all weights of a run's
/// samples are drawn from it.
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
  /// Names of the fields that occur in any sample, in order of first appearance: "jpg", "cls", ...
  virtual const std::vector<std::string>& field_names() const = 0;

  /// Replaces `into` by all that is known of a sample; allocates nothing in the steady state. May read from an index:
  /// throws kNotFound, kIo, and kData for a shard or index that is damaged.
  virtual void read(std::int64_t sample, SampleRow& into) const = 0;
  /// Fetches from the indexes what reading these samples' rows will need, all at once. What goes wrong is told when a
  /// row is read.
  virtual void prepare(std::span<const std::int64_t> samples) const = 0;

  /// How many samples each shard has, in order; a folder is one shard.
  virtual std::vector<std::int64_t> shard_samples() const = 0;
  /// Bytes of all fields of all samples.
  virtual std::uint64_t bytes() const = 0;

  /// Changes when the samples, their order, their images' sizes or their labels change; not with where they lie, so
  /// that a folder and its tars have the same.
  virtual std::uint64_t fingerprint() const = 0;

  /// What it is mixed from; empty for a data set whose samples all count alike.
  virtual std::vector<MixPart> mixture() const { return {}; }

  /// read(), where speed is of no matter.
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

/// Class numbers mean the same everywhere in a data set: throws kData if what it is joined from, of these names, has
/// not the same classes.
void require_same_classes(const std::string& a, const std::vector<std::string>& of_a, const std::string& b,
                          const std::vector<std::string>& of_b);

/// Adds those that `into` has not yet.
void add_field_names(const std::vector<std::string>& names, std::vector<std::string>& into);

}  // namespace stoker
