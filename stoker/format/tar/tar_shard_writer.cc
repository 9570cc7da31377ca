#include "stoker/format/tar/tar_shard_writer.h"

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tar/tar_writer.h"

namespace stoker {
namespace {

constexpr std::uint64_t kTarRecord = 512;

std::uint64_t in_records(std::uint64_t bytes) { return (bytes + kTarRecord - 1) / kTarRecord * kTarRecord; }

class TarShardWriter final : public ShardFileWriter {
 public:
  TarShardWriter(std::unique_ptr<ObjectWriter> object, IndexWriter& index) : tar_(std::move(object)), index_(index) {}

  void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) override {
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      SampleField& field = row.fields[i];
      member_ = row.key;
      member_ += '.';
      member_ += field.name;
      field.offset = tar_.add(member_, fields[i]);
    }
    index_.add(row, entry_points);
  }

  std::uint64_t bytes() const override { return tar_.bytes(); }

  FinishedShard finish() override {
    const std::vector<std::uint8_t> index = index_.finish({.data_bytes = tar_.bytes(), .data_hash = tar_.hash()});
    tar_.add(kIndexMember, index);
    tar_.finish();
    return {.bytes = tar_.bytes(), .hash = tar_.hash(), .index_tag = hash64(Bytes(index).last(kIndexTrailerBytes))};
  }

 private:
  TarWriter tar_;
  IndexWriter& index_;
  std::string member_;
};

}  // namespace

/// Names that others than Stoker, which never extracts anything, would pass over or write somewhere else are refused.
void TarWriting::require_fits(const SampleRow& row) const {
  if (is_about_the_shard(row.key)) {
    fail(ErrorKind::kUsage,
         "readers of WebDataset tars skip samples whose first folder begins and ends with two underscores; rename the "
         "folder");
  }
  if (leads_elsewhere(row.key)) {
    fail(ErrorKind::kUsage,
         "its name would lead out of the folder into which a tool extracts the shard: use a name without '..' and "
         "without a leading '/'");
  }
}

std::uint64_t TarWriting::bytes_of(const SampleRow& row) const {
  std::uint64_t bytes = 0;
  for (const SampleField& field : row.fields) bytes += kTarRecord + in_records(field.length);
  return bytes;
}

std::unique_ptr<ShardFileWriter> TarWriting::begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                   const PackContents& /*contents*/) const {
  return std::make_unique<TarShardWriter>(stores.put(shard), index);
}

}  // namespace stoker
