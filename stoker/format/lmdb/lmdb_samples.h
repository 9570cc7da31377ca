// What the two kinds of LMDB databases share: the places of values become fields, and keys of entries those of samples.
#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/format/lmdb/lmdb_tree.h"
#include "stoker/format/shard_format.h"

namespace stoker {

/// "train/" of ".../train/data.mdb", ".../train.mdb" and ".../train.lmdb": see key_prefix_of_file().
std::string lmdb_key_prefix(std::string_view path);

/// The extension of the image that an entry's value is: as extension_of_bytes().
std::string_view extension_of_value(LmdbCursor& cursor, const LmdbEntry& entry);

/// A name that may be put together anew for each field; the view lives as long as this.
class LmdbFieldNames {
 public:
  std::string_view keep(std::string_view name);

 private:
  std::set<std::string, std::less<>> names_;
};

/// Samples of a database whose entries are samples one by one: images, or Caffe's Datum.
class LmdbEntrySamples final : public ShardScan {
 public:
  LmdbEntrySamples(Source& source, const LmdbMeta& meta, std::stop_token stop);

  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  /// Entries that are not samples, by what they are keys of, and the first one.
  struct PassedOver {
    std::string_view with;
    std::uint64_t count = 0;
    std::string first{};
  };

  bool fill(const LmdbEntry& entry, SampleRow& row);
  bool fill_from_datum(const LmdbEntry& entry, SampleRow& row);
  void set_key(Bytes key, SampleRow& row);
  bool pass_over(PassedOver& reason, Bytes key);

  Source& source_;
  const std::stop_token stop_;
  const bool has_integer_keys_;
  LmdbCursor cursor_;
  std::string key_prefix_, last_plain_key_;
  LmdbFieldNames names_;
  PassedOver databases_{"a database of its own"}, duplicates_{"several values"},
      pickles_{"a value that Python pickled, which Stoker never loads"},
      others_{"a value that is neither an image nor a Datum"};
};

/// Samples of a database with the key "num-samples" and entries NAME-000000001: those with one number are a sample.
/// Null if the database is not one.
std::unique_ptr<ShardScan> numbered_lmdb_samples(Source& source, const LmdbMeta& meta, const std::stop_token& stop);

}  // namespace stoker
