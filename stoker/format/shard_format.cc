#include "stoker/format/shard_format.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/words.h"
#include "stoker/format/arrow/arrow_format.h"
#include "stoker/format/beton/beton_format.h"
#include "stoker/format/folder/folder_format.h"
#include "stoker/format/hdf5/hdf5_format.h"
#include "stoker/format/list/list_format.h"
#include "stoker/format/litdata/litdata_format.h"
#include "stoker/format/lmdb/lmdb_format.h"
#include "stoker/format/mds/mds_format.h"
#include "stoker/format/member_name.h"
#include "stoker/format/npy/npy_format.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/recordio/recordio_format.h"
#include "stoker/format/shard_file_writer.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tfrecord/tfrecord_format.h"
#include "stoker/format/zip/zip_format.h"

namespace stoker {

const std::string& ShardCandidate::name() const {
  if (name_.empty()) assign_lower_case(name_, location_.name());
  return name_;
}

Bytes ShardCandidate::head() const {
  if (head_) return *head_;
  head_.emplace();
  if (!facts_ || !facts_->is_file()) return {};
  try {
    const std::shared_ptr<Source> source = stores_.open(location_);
    std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(source->size(), kHeadBytes));
    read_fully(*source, 0, bytes);
    head_ = std::move(bytes);
  } catch (const Error&) {
    // Opening it says what is wrong.
  }
  return *head_;
}

void stop_if_asked(const std::stop_token& stop, std::string_view shard) {
  if (stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while looking for samples in '{}'", shard);
}

const std::vector<const ShardFormat*>& shard_formats() {
  static const FolderFormat folder;
  static const TarFormat tar;
  static const TfRecordFormat tfrecord;
  static const RecordIoFormat recordio;
  static const ParquetFormat parquet;
  static const ArrowFormat arrow;
  static const NpyFormat npy;  // before zip, which an npz is, too
  static const MdsFormat mds;
  static const LitDataFormat litdata;
  static const BetonFormat beton;
  static const ZipFormat zip;
  static const LmdbFormat lmdb;
  static const Hdf5Format hdf5;
  static const ListFormat list;
  static const std::vector<const ShardFormat*> formats = {&folder, &tar, &tfrecord, &recordio, &parquet, &arrow, &npy,
                                                          &zip,    &mds, &litdata,  &beton,    &lmdb,    &hdf5,  &list};
  return formats;
}

std::vector<const WritableFormat*> writable_formats() {
  std::vector<const WritableFormat*> writable;
  for (const ShardFormat* format : shard_formats()) {
    if (const WritableFormat* writing = format->writing()) writable.push_back(writing);
  }
  return writable;
}

const WritableFormat& writable_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WritableFormat* format : writable_formats()) {
    if (format->name() == name) return *format;
    names.push_back(format->name());
  }
  fail_no_word(name, "not a format that Stoker writes", names);
}

bool is_shard_name(std::string_view name) {
  std::string lower_case;
  assign_lower_case(lower_case, name);
  const std::vector<const ShardFormat*>& all = shard_formats();
  return std::any_of(all.begin(), all.end(), [&](const auto* format) { return format->is_shard_name(lower_case); });
}

const ShardFormat* format_of(const ShardCandidate& shard) {
  const std::vector<const ShardFormat*>& all = shard_formats();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto* format) { return format->recognises(shard); });
  return found == all.end() ? nullptr : *found;
}

}  // namespace stoker
