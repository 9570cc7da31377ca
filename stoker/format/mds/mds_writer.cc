#include "stoker/format/mds/mds_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/mds/mds_header.h"

namespace stoker {
namespace {

using MdsJson = nlohmann::json;

/// What a shard says of itself, and index.json of it.
MdsJson description_of(const std::vector<MdsColumn>& columns) {
  MdsJson description = {{"version", 2},
                         {"format", "mds"},
                         {"compression", nullptr},
                         {"hashes", MdsJson::array()},
                         {"size_limit", nullptr}};
  for (const char* list : {"column_names", "column_encodings", "column_sizes"}) description[list] = MdsJson::array();
  for (const MdsColumn& column : columns) {
    description["column_names"].push_back(column.name);
    description["column_encodings"].push_back(column.encoding);
    description["column_sizes"].push_back(column.size ? MdsJson(*column.size) : MdsJson(nullptr));
  }
  return description;
}

}  // namespace

std::vector<MdsColumn> mds_columns(const std::vector<MdsColumnSpec>& specs) {
  std::vector<MdsColumn> columns;
  columns.reserve(specs.size());
  for (const MdsColumnSpec& spec : specs) columns.push_back(mds_column(spec.name, spec.encoding));
  std::sort(columns.begin(), columns.end(), [](const MdsColumn& a, const MdsColumn& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(columns.begin(), columns.end(),
                                        [](const MdsColumn& a, const MdsColumn& b) { return a.name == b.name; });
  if (twice != columns.end()) fail(ErrorKind::kData, "two columns are named '{}'", twice->name);
  if (columns.empty() || columns.size() > kMdsColumnsMax) {
    fail(ErrorKind::kData, "a shard has 1 to {} columns, not {}", kMdsColumnsMax, columns.size());
  }
  return columns;
}

MdsWriter::MdsWriter(std::unique_ptr<ObjectWriter> object, const std::vector<MdsColumnSpec>& columns)
    : object_(std::move(object)), columns_(mds_columns(columns)) {
  varying_ = static_cast<std::size_t>(
      std::count_if(columns_.begin(), columns_.end(), [](const MdsColumn& one) { return !one.size; }));
  try {
    description_ = description_of(columns_).dump();
  } catch (const MdsJson::exception&) {
    fail(ErrorKind::kData, "a column's name is not UTF-8");
  }
  if (description_.size() > kMdsDescriptionBytesMax) fail(ErrorKind::kData, "the names of columns are too long");
}

std::uint64_t MdsWriter::offset_of_samples() const {
  const MdsHeader header{.samples = static_cast<std::uint32_t>(samples_.size())};
  return header.offsets_end() + description_.size();
}

Bytes MdsWriter::add(std::span<const Bytes> values) {
  if (values.size() != columns_.size()) {
    fail(ErrorKind::kUsage, "it has {} values, for {} columns", values.size(), columns_.size());
  }
  std::uint64_t length = varying_ * sizeof(std::uint32_t);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (columns_[i].size && *columns_[i].size != values[i].size()) {
      fail(ErrorKind::kUsage, "its '{}' has {} bytes, and not the {} of '{}'", columns_[i].name, values[i].size(),
           *columns_[i].size, columns_[i].encoding);
    }
    length += values[i].size();
  }
  if (length > kShardBytesMax - std::min(kShardBytesMax, bytes() + sizeof(std::uint32_t))) {
    fail(ErrorKind::kLimit, "with it the shard would exceed the {} bytes that MDS can hold", kShardBytesMax);
  }
  std::vector<std::uint8_t>& sample = samples_.emplace_back();
  sample.reserve(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!columns_[i].size) append_little_endian(sample, static_cast<std::uint32_t>(values[i].size()));
  }
  for (const Bytes value : values) sample.insert(sample.end(), value.begin(), value.end());
  sample_bytes_ += sample.size();
  return sample;
}

std::uint64_t MdsWriter::finish() {
  std::vector<std::uint8_t> front;
  append_little_endian(front, static_cast<std::uint32_t>(samples_.size()));
  std::uint64_t end = offset_of_samples();
  append_little_endian(front, static_cast<std::uint32_t>(end));
  for (const std::vector<std::uint8_t>& sample : samples_) {
    end += sample.size();
    append_little_endian(front, static_cast<std::uint32_t>(end));
  }
  Hasher64 hasher;
  const auto write = [&](Bytes part) {
    object_->write(part);
    hasher.update(part);
  };
  write(front);
  write(as_bytes(description_));
  for (const std::vector<std::uint8_t>& sample : samples_) write(sample);
  object_->commit();
  return hasher.digest();
}

std::string mds_index(const std::vector<MdsColumn>& columns, const std::vector<MdsListedShard>& shards) {
  MdsJson list = MdsJson::array();
  for (const MdsListedShard& shard : shards) {
    MdsJson listed = description_of(columns);
    listed["samples"] = shard.samples;
    listed["raw_data"] = {{"basename", shard.name}, {"bytes", shard.bytes}, {"hashes", MdsJson::object()}};
    listed["zip_data"] = nullptr;
    list.push_back(std::move(listed));
  }
  return MdsJson{{"version", 2}, {"shards", std::move(list)}}.dump();
}

}  // namespace stoker
