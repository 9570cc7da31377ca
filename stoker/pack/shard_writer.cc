#include "stoker/pack/shard_writer.h"

#include "stoker/base/error.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/dataset.h"
#include "stoker/format/index/index_places.h"

namespace stoker {

void ShardWriter::add(SweptSample& sample) {
  const std::string key = sample.row.key;
  try {
    file_->add(sample.row, sample.fields, sample.entry_points);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage && error.kind() != ErrorKind::kLimit) throw;
    sample.row.key = key;
    throw error.with_context(describe(sample.row));
  }
  keys_.insert(hash64(sample.row.key));
}

ManifestShard ShardWriter::finish() {
  FinishedShard made = file_->finish();
  const Fingerprint fingerprint = index_.fingerprint();
  const std::uint64_t sample_bytes = index_.sample_bytes();
  if (!made.index_tag && made.can_be_indexed) {
    put_index_beside(made);
    made.beside.push_back(index_beside(shard_).name());
  }
  return {.name = shard_.name(),
          .bytes = made.bytes,
          .hash = made.hash,
          .samples = fingerprint.samples(),
          .sample_bytes = sample_bytes,
          .fingerprint = fingerprint,
          .index_tag = made.index_tag,
          .beside = std::move(made.beside)};
}

void ShardWriter::put_index_beside(const FinishedShard& made) {
  const std::shared_ptr<Source> written = stores_.open(shard_);
  put_whole(stores_, index_beside(shard_),
            index_.finish(
                {.data_bytes = made.bytes, .content_tag = content_tag(*written, made.bytes), .classes = made.classes}));
}

}  // namespace stoker
