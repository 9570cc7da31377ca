#include "stoker/format/mds/mds_format.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/compressed_file.h"
#include "stoker/format/mds/mds_folder.h"
#include "stoker/format/mds/mds_shard_writer.h"

namespace stoker {
namespace {

bool is_mds_name(std::string_view name) {
  if (const CompressedEnding* ending = compressed_ending(name)) name.remove_suffix(ending->ending.size());
  return name.ends_with(".mds");
}

}  // namespace

bool MdsFormat::is_shard_name(std::string_view name) const { return is_mds_name(name); }

bool MdsFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_mds_name(shard.name()) || is_mds(shard.head()));
}

bool MdsFormat::is_list_name(std::string_view name) const { return name == kMdsListName; }

std::vector<Location> MdsFormat::listed_shards(const Stores& stores, const Location& folder) const {
  return listed_mds_shards(stores, folder);
}

std::unique_ptr<ShardScan> MdsFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<MdsSamples>(shard, stop);
}

const WritableFormat* MdsFormat::writing() const {
  static const MdsWriting writing;
  return &writing;
}

MdsSamples::MdsSamples(Source& source, std::stop_token stop) : source_(source), stop_(std::move(stop)) {}

/// Begins to read: not in the constructor, since that may take long.
void MdsSamples::open() {
  bytes_ = &source_;
  all_ = {.begin = 0, .size = source_.size()};
  if (const std::optional<CompressedBlock> block = compressed_file(source_)) {
    blocks_.emplace(source_, block->length);  // the samples and their offsets are read side by side
    all_ = {.begin = blocks_->add(*block), .size = block->length};
    bytes_ = &blocks_->source();
  }
  header_ = read_mds_header(*bytes_, all_);
  rows_.emplace(header_.columns, source_.name());
  offsets_.emplace(*bytes_, all_.begin + kMdsOffsetsAt + 4, all_.begin + header_.offsets_end());
  samples_.emplace(*bytes_, all_.begin + header_.samples_at, all_.begin + all_.size);
  end_ = header_.samples_at;
}

std::string MdsSamples::place() const { return fmt::format("sample {}", number_); }

bool MdsSamples::next(SampleRow& row) {
  row.clear();
  stop_if_asked(stop_, source_.name());
  if (!bytes_) open();
  row.source = bytes_;
  if (number_ + 1 >= std::int64_t{header_.samples}) {
    if (samples_->left() == 0) return false;
    fail(ErrorKind::kData, "'{}' is damaged: its last sample ends at byte {}, and it has {}", source_.name(), end_,
         byte_count(all_.size));
  }
  ++number_;
  const std::uint64_t begin = end_;
  const Bytes sample = take_sample();
  try {
    rows_->read(sample, {.offset = all_.begin + begin, .number = number_}, row);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': {} cannot be used: {}", source_.name(), place(), wrong.message());
  }
  return true;
}

Bytes MdsSamples::take_sample() {
  const std::uint64_t begin = end_;
  end_ = load_little_endian<std::uint32_t>(offsets_->take(sizeof(std::uint32_t)).data());
  if (end_ < begin) {
    fail(ErrorKind::kData, "'{}' is damaged: {} is said to lie from byte {} to byte {}", source_.name(), place(), begin,
         end_);
  }
  if (end_ > all_.size) {
    fail(ErrorKind::kData, "'{}' is truncated: {} ends at byte {}, and it has {}", source_.name(), place(), end_,
         byte_count(all_.size));
  }
  if (end_ - begin > kSampleBytesMax) {
    fail(ErrorKind::kData, "'{}': {} has {}; Stoker reads samples of up to {}", source_.name(), place(),
         byte_count(end_ - begin), kSampleBytesMax);
  }
  return samples_->take(static_cast<std::size_t>(end_ - begin));
}

ShardNotes MdsSamples::take_notes() {
  ShardNotes notes;
  if (blocks_) notes.blocks = blocks_->take();
  std::string pickled;
  for (const MdsColumn& column : header_.columns) {
    if (column.kind == MdsKind::kPickle) pickled += fmt::format("{}'{}'", pickled.empty() ? "" : ", ", column.name);
  }
  if (!pickled.empty()) {
    notes.problems.push_back(
        fmt::format("'{}': skips what was pickled, since reading it could run any code: {}", source_.name(), pickled));
  }
  return notes;
}

}  // namespace stoker
