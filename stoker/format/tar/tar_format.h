// Tar shards as WebDataset writes them: consecutive members that share a key are one sample. A scan reads the headers
// and seeks over the data; nothing is ever extracted, and members' names serve as keys only.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "stoker/format/class_number.h"
#include "stoker/format/member_name.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/tar/tar_reader.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Members that are not regular files (links, folders, devices, sparse files), whose names have no extension, or that
/// belong to Stoker itself ("__stoker__/...") are passed over. A member "cls" holds its sample's class number as text.
class TarFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "tar"; }
  /// By the name's extension, also of compressed tars, which scan() refuses with the reason; else by the magic bytes.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".tar"); }
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  const WritableFormat* writing() const override;
};

/// The samples of a tar one by one, as its members are read: consecutive members with the same key are one sample.
class TarSamples final : public ShardScan {
 public:
  /// The source must outlive it.
  explicit TarSamples(Source& source, std::stop_token stop = {});

  /// Replaces `row` by the next sample; false after the last, when the whole tar has been seen to be sound. Throws
  /// kData naming the source, the place and the last good member when it is damaged, truncated anywhere (a missing end
  /// mark included), compressed, or when a sample has a field twice; kClosed when asked to stop. Warns at the end of
  /// members that are passed over, of samples that look like several, and of those whose `cls` is not a number: their
  /// label is -1. The row's views live
  /// as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override { return {.holds_index = saw_index_}; }

 private:
  /// Of the member that the reader stands at.
  std::optional<MemberName> member_name() const;
  /// Goes to the next member that belongs to a sample.
  bool next_member();
  void add_member(SampleRow& row);
  void note_numbered_images(const SampleRow& row);
  void warn() const;

  Source& source_;
  std::stop_token stop_;
  TarReader tar_;
  std::set<std::string, std::less<>> names_;  // of fields: rows have views of them
  std::string field_;                         // scratch
  bool has_member_ = false;                   // the reader stands at a member of the next sample
  bool ended_ = false;
  bool saw_index_ = false;
  ClassNumbers class_numbers_;
  std::int64_t passed_over_ = 0;  // members
  std::string first_passed_over_;
  std::int64_t numbered_ = 0;   // samples
  std::string first_numbered_;  // its key, and two of its images
};

}  // namespace stoker
