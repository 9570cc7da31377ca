// A data set: the samples found in a list of shards or in a folder, each with its key, its label and where its fields
// lie. Immutable once opened; any number of threads may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

class Dataset {
 public:
  Dataset(std::vector<std::shared_ptr<Source>> sources, SampleTable samples, std::vector<std::string> classes);

  std::int64_t size() const { return samples_.size(); }

  /// Class names by label, when the data set names its classes (a folder does); otherwise empty.
  const std::vector<std::string>& classes() const { return classes_; }
  /// Names of the fields that occur in any sample, in order of first appearance: "jpg", "cls", ...
  const std::vector<std::string>& field_names() const { return samples_.field_names(); }

  std::string_view key(std::int64_t sample) const { return samples_.key(sample); }
  /// The sample's class number, or -1 where none is known.
  std::int64_t label(std::int64_t sample) const { return samples_.label(sample); }
  /// Where a field lies; nullopt when the sample has no such field.
  std::optional<FieldLocation> field(std::int64_t sample, std::string_view name) const;
  /// The field that holds the sample's image: the first that is named as an image (jpg, jpeg, png, webp), else the
  /// first whose last extension is ("mask.png").
  std::optional<FieldLocation> image_field(std::int64_t sample) const;
  /// All fields of a sample.
  std::span<const FieldLocation> fields(std::int64_t sample) const { return samples_.fields(sample); }
  /// What is known of the sample's image before it is read; nothing without an index.
  std::optional<ImageFacts> facts(std::int64_t sample) const;

  Source& source(const FieldLocation& field) const { return *sources_[field.source]; }
  /// The part to read within the field's source: the file's relative path for a folder, empty for a shard.
  std::string_view part(const FieldLocation& field) const { return samples_.part(field); }
  /// How many samples each shard has, in order; a folder is one shard.
  std::vector<std::int64_t> shard_samples() const;
  /// "train-003.tar, sample 'n01/img7'": for messages.
  std::string describe(std::int64_t sample) const;

  /// Changes when the samples, their order, their images' sizes or their labels change; not with where they lie, so
  /// that a folder and its tar have the same.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<std::shared_ptr<Source>> sources_;
  SampleTable samples_;
  std::vector<std::string> classes_;
  std::vector<bool> is_image_;  // by the number of the field's name
  std::uint64_t fingerprint_ = 0;
};

/// Opens DATA (INTERFACES: a folder, a shard, a text file of paths, a glob or brace pattern), or several of them joined
/// in order. `executor` runs the reads for as long as the data set lives. Throws kNotFound, kIo, kData or kUsage with a
/// sentence that names the file, and kClosed when asked to `stop`.
std::shared_ptr<const Dataset> open_dataset(const std::vector<std::string>& data, std::shared_ptr<Executor> executor,
                                            const std::stop_token& stop = {});

}  // namespace stoker
