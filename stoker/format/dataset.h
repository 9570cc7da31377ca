// A data set: the samples of a list of shards or of a folder, each with its key, its label, where its fields lie and
// what an index knows of it. Immutable once opened; any number of threads may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/data_shard.h"
#include "stoker/format/index_places.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/file_access.h"

namespace stoker {

class Dataset {
 public:
  /// `fields`: the names that occur in any shard.
  Dataset(std::vector<std::unique_ptr<DataShard>> shards, std::vector<std::string> fields,
          std::vector<std::string> classes);
  /// Of one source whose samples are listed in memory.
  Dataset(std::shared_ptr<Source> source, SampleTable samples, std::vector<std::string> classes);

  std::int64_t size() const { return first_samples_.back(); }

  /// Class names by label, when the data set names its classes (a folder does); otherwise empty.
  const std::vector<std::string>& classes() const { return classes_; }
  /// Names of the fields that occur in any sample, in order of first appearance: "jpg", "cls", ...
  const std::vector<std::string>& field_names() const { return field_names_; }

  /// Replaces `into` by all that is known of a sample; allocates nothing in the steady state. May read from an index:
  /// throws kNotFound, kIo, and kData for a shard or index that is damaged.
  void read(std::int64_t sample, SampleRow& into) const;
  /// The same where speed is of no matter.
  SampleRow row(std::int64_t sample) const;
  std::string key(std::int64_t sample) const { return row(sample).key; }
  std::int64_t label(std::int64_t sample) const { return row(sample).label; }
  /// Fetches from the indexes what reading these samples' rows will need, all at once. What goes wrong is told when a
  /// row is read.
  void prepare(std::span<const std::int64_t> samples) const;

  /// How many samples each shard has, in order; a folder is one shard.
  std::vector<std::int64_t> shard_samples() const;
  /// "train-003.tar, sample 'n01/img7'": for messages.
  std::string describe(std::int64_t sample) const;

  const std::vector<std::unique_ptr<DataShard>>& shards() const { return shards_; }
  /// Bytes of all fields of all samples.
  std::uint64_t bytes() const;

  /// Changes when the samples, their order, their images' sizes or their labels change; not with where they lie, so
  /// that a folder and its tars have the same.
  std::uint64_t fingerprint() const { return fingerprint_.value(); }

 private:
  struct Place {
    const DataShard* shard;
    std::int64_t row;
  };
  Place place_of(std::int64_t sample) const;

  std::vector<std::unique_ptr<DataShard>> shards_;
  std::vector<std::int64_t> first_samples_;  // before each shard, and all samples last
  std::vector<std::string> field_names_;
  std::vector<std::string> classes_;
  Fingerprint fingerprint_;
};

/// "train-003.tar, sample 'n01/img7'": for messages.
std::string describe(const SampleRow& row);

/// Opens DATA (INTERFACES: a folder, a shard, a text file of paths, a glob or brace pattern), or several of them joined
/// in order. `access` is what they are read by for as long as the data set lives. Throws kNotFound, kIo, kData or
/// kUsage with a sentence that names the file, and kClosed when asked to `stop`. Shards that must be looked at are
/// opened side by side on `opening`, which must not be the executor that reads: null opens them one after another.
std::shared_ptr<const Dataset> open_dataset(const std::vector<std::string>& data, const FileAccess& access,
                                            const IndexOptions& index = {}, const std::stop_token& stop = {},
                                            Executor* opening = nullptr);

}  // namespace stoker
