// A data set stored in a list of shards, or in a folder, which is one shard.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/open/data_shard.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/stores.h"

namespace stoker {

class ShardedDataset : public Dataset {
 public:
  /// `fields`: the names that occur in any shard. `meters`: of the stores that it was opened from. `late`: those of
  /// its shards that are opened later; null without any.
  ShardedDataset(std::vector<std::unique_ptr<DataShard>> shards, std::vector<std::string> fields,
                 std::vector<std::string> classes, TrafficMeters meters = {},
                 std::shared_ptr<const LateShards> late = nullptr, bool is_direct = false);
  /// Of one source whose samples are listed in memory.
  ShardedDataset(std::shared_ptr<Source> source, SampleTable samples, std::vector<std::string> classes);

  const std::vector<std::unique_ptr<DataShard>>& shards() const { return shards_; }

  std::int64_t size() const override { return first_samples_.back(); }
  const std::vector<std::string>& classes() const override { return classes_; }
  const std::vector<std::string>& field_names() const override { return field_names_; }
  void read(std::int64_t sample, SampleRow& into) const override;
  void prepare(std::span<const std::int64_t> samples) const override;
  std::vector<std::int64_t> shard_samples() const override;
  std::uint64_t bytes() const override;
  std::uint64_t fingerprint() const override { return fingerprint_.value(); }
  TrafficMeters meters() const override { return meters_; }
  bool is_direct() const override { return is_direct_; }

 private:
  struct Place {
    const DataShard* shard;
    std::int64_t row;
  };
  Place place_of(std::int64_t sample) const;
  std::vector<std::size_t> late_shards_of(std::span<const std::int64_t> samples) const;

  std::vector<std::unique_ptr<DataShard>> shards_;
  std::vector<std::int64_t> first_samples_;  // before each shard, and all samples last
  std::vector<std::string> field_names_;
  std::vector<std::string> classes_;
  Fingerprint fingerprint_;
  TrafficMeters meters_;
  std::shared_ptr<const LateShards> late_;
  bool is_direct_;
};

/// Opens DATA (INTERFACES: a folder, a shard, a text file of paths, a glob or brace pattern), or several of them joined
/// in order. `stores` are where they lie, for as long as the data set lives. Throws kNotFound, kIo, kData or
/// kUsage with a sentence that names the file, and kClosed when asked to `stop`. Shards that must be looked at, and
/// distant ones later, are opened side by side on `opening`, which must not be the executor that reads: null opens them
/// one after another.
std::shared_ptr<const ShardedDataset> open_dataset(const std::vector<std::string>& data, const Stores& stores,
                                                   const IndexOptions& index = {}, const std::stop_token& stop = {},
                                                   std::shared_ptr<Executor> opening = {});

}  // namespace stoker
