// RecordIO files of images, as MXNet's im2rec writes them: each record is one sample. docs/formats.md says what becomes
// of its header. The file of offsets beside it (.idx) is not needed.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "stoker/format/recordio/recordio_reader.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class RecordIoFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "recordio"; }
  /// By the magic number, or the extension "rec".
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".rec"); }
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  const WritableFormat* writing() const override;
};

/// The samples of a RecordIO file one by one.
class RecordIoSamples final : public ShardScan {
 public:
  /// What records that were split may take of memory, all together. The magic number occurs by chance once in 16 GiB.
  static constexpr std::uint64_t kCopiesBytesMax = std::uint64_t{256} << 20;

  /// The source must outlive it.
  explicit RecordIoSamples(Source& source, std::stop_token stop = {});

  /// Replaces `row` by the next sample; false after the last. Throws kData naming the file and the record when it is
  /// damaged or truncated or has no image header, kLimit when split records need more than kCopiesBytesMax, and kClosed
  /// when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  std::uint64_t offset_of_record();
  [[noreturn]] void fail_without_header();

  Source& source_;
  BlockPlaces places_;
  std::uint64_t copied_bytes_ = 0;
  std::stop_token stop_;
  RecordIoReader records_;
  std::string key_prefix_;
  std::int64_t without_bytes_ = 0;  // records that have a header alone
};

}  // namespace stoker
