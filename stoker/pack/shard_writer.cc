#include "stoker/pack/shard_writer.h"

#include "stoker/format/index/index_places.h"

namespace stoker {
namespace {

constexpr std::uint64_t kRecord = 512;

std::uint64_t in_records(std::uint64_t bytes) { return (bytes + kRecord - 1) / kRecord * kRecord; }

}  // namespace

void ShardWriter::add(SweptSample& sample) {
  for (std::size_t i = 0; i < sample.row.fields.size(); ++i) {
    SampleField& field = sample.row.fields[i];
    member_ = sample.row.key;
    member_ += '.';
    member_ += field.name;
    field.offset = tar_.add(member_, sample.fields[i]);
  }
  index_.add(sample.row, sample.entry_points);
  keys_.insert(hash64(sample.row.key));
}

std::uint64_t ShardWriter::bytes_with(const SweptSample& sample) const {
  std::uint64_t bytes = tar_.bytes();
  for (const SampleField& field : sample.row.fields) bytes += kRecord + in_records(field.length);
  return bytes;
}

ManifestShard ShardWriter::finish(std::string name) {
  const Fingerprint fingerprint = index_.fingerprint();
  const std::uint64_t sample_bytes = index_.sample_bytes();
  const IndexedShard described{.data_bytes = tar_.bytes(), .data_hash = tar_.hash()};
  const std::vector<std::uint8_t> index = index_.finish(described);
  tar_.add(kIndexMember, index);
  tar_.finish();
  return {.name = std::move(name),
          .bytes = tar_.bytes(),
          .hash = tar_.hash(),
          .samples = fingerprint.samples(),
          .sample_bytes = sample_bytes,
          .fingerprint = fingerprint,
          .index_tag = hash64(Bytes(index).last(kIndexTrailerBytes))};
}

}  // namespace stoker
