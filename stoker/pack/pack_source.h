// What a pack is made of: the samples that are chosen of the data, and the order in which they are packed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/format/open/sharded_dataset.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_selection.h"
#include "stoker/pack/sample_doubts.h"

namespace stoker {

class PackSource {
 public:
  /// `options` must outlive it. `cache_folder`: where it is kept what opening the data finds; empty: nowhere. Throws
  /// what opening the data and choosing among them throws, and kUsage for a sample that the format cannot hold, as far
  /// as rows tell: what shrinking or encoding images makes of them is known later.
  PackSource(const std::vector<std::string>& data, const PackOptions& options, const std::string& cache_folder);

  const ShardedDataset& shards() const { return *shards_; }
  /// Of these the chosen ones, with the chosen fields and labels.
  const Dataset& samples() const { return *chosen_.samples; }
  /// Which of all samples one of the chosen is.
  std::int64_t number_in_shards(std::int64_t sample) const {
    return chosen_.numbers.empty() ? sample : chosen_.numbers[static_cast<std::size_t>(sample)];
  }
  const PackSelection& selection() const { return selection_; }
  const PackContents& contents() const { return contents_; }
  /// Whether a sample without an image is a bad one.
  bool of_images() const { return of_images_; }

  /// What decides which bytes are packed, and nothing else.
  std::string job() const;

  /// Whether the sample with this row is packed, as far as that is known without looking at its image. Notes in the row
  /// if its class field says that the class is unknown.
  bool takes(std::int64_t sample, SampleRow& row) const;

 private:
  struct Chosen {
    std::shared_ptr<const Dataset> samples;
    std::vector<std::int64_t> numbers;  // among all samples, if not all are chosen
  };

  static Chosen chosen_of(std::shared_ptr<const Dataset> all, const PackOptions& options);
  void require_all_fit();

  const PackOptions& options_;
  const std::shared_ptr<const ShardedDataset> shards_;
  const Chosen chosen_;
  const bool of_images_;
  const std::uint64_t fields_hash_;
  const PackSelection selection_;
  const SampleDoubts doubts_;
  PackContents contents_;
};

/// Of all shards, as they are named.
std::vector<Location> places_of(const ShardedDataset& data);

/// The most bytes that a shard of several samples gets.
std::uint64_t shard_bytes_max(const PackOptions& options);

/// Throws kUsage for options that make no sense, and for a place that no store has.
void require_sensible(const PackOptions& options, const Location& to);

}  // namespace stoker
