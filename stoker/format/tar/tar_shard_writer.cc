#include "stoker/format/tar/tar_shard_writer.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/hash.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tar/tar_writer.h"

namespace stoker {
namespace {

constexpr std::uint64_t kTarRecord = 512;

/// Names in a tar end at a zero byte, and readers divide them where WebDataset does.
void require_is_split_back(std::string_view key, std::string_view field) {
  constexpr std::string_view kNeverInField("/\0", 2);
  if (field.empty() || field.find_first_of(kNeverInField) != std::string_view::npos) {
    fail(ErrorKind::kUsage,
         "its field '{}' has a name with a slash or a zero byte, or none, and cannot be named so in a tar; rename the "
         "field",
         escaped(field));
  }
  const std::string member = std::string(key).append(".").append(field);
  const std::string_view kept = std::string_view(member).substr(0, member.find('\0'));
  const std::optional<MemberName> split = split_member_name(without_this_folder(kept));
  if (split && split->key == key) return;
  fail(ErrorKind::kUsage,
       "its key is '{}', and readers of WebDataset tars, which take what precedes the first dot after the last slash "
       "for "
       "the key, would find {}; choose another format, such as parquet, or give the samples other keys",
       escaped(key), split ? fmt::format("'{}'", escaped(split->key)) : "none");
}

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

/// Names that others than Stoker, which never extracts anything, would pass over, take for other names, or write
/// somewhere else are refused.
void TarWriting::require_fits(const SampleRow& row) const {
  if (row.fields.empty()) {
    fail(ErrorKind::kUsage, "it has no fields, so no member of a tar would tell of it; leave the sample out");
  }
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
  for (const SampleField& field : row.fields) require_is_split_back(row.key, field.name);
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
