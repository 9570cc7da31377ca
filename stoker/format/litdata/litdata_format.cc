#include "stoker/format/litdata/litdata_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/key_prefix.h"

namespace stoker {
namespace {

/// Takes digits and a `-` or `.` after them; false if there are none.
bool take_number_and(std::string_view& name, char after) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || digits == name.size() || name[digits] != after) return false;
  name.remove_prefix(digits + 1);
  return true;
}

/// "chunk-0-1.bin", or with a compression between "chunk-0-1." and "bin".
bool is_chunk_name(std::string_view name) {
  constexpr std::string_view kBefore = "chunk-";
  if (!name.starts_with(kBefore)) return false;
  name.remove_prefix(kBefore.size());
  return take_number_and(name, '-') && take_number_and(name, '.') && (name == "bin" || name.ends_with(".bin"));
}

}  // namespace

bool LitDataFormat::is_shard_name(std::string_view name) const { return is_chunk_name(name); }

bool LitDataFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_chunk_name(shard.name()) || is_litdata_chunk(shard.head()));
}

bool LitDataFormat::is_list_name(std::string_view name) const { return name == kLitDataListName; }

std::vector<Location> LitDataFormat::listed_shards(const Stores& stores, const Location& folder) const {
  return listed_litdata_chunks(stores, folder);
}

std::unique_ptr<ShardScan> LitDataFormat::scan(Source& shard, const std::stop_token& /*stop*/) const {
  fail(ErrorKind::kData, "'{}' needs the '{}' that litdata wrote into its folder: it says what samples hold",
       shard.name(), kLitDataListName);
}

std::unique_ptr<ShardScan> LitDataFormat::scan_at(const Stores& stores, const Location& at, Source& shard,
                                                  const std::stop_token& stop) const {
  std::shared_ptr<const LitDataList> list = list_of(stores, at);
  if (!list) return scan(shard, stop);
  return std::make_unique<LitDataSamples>(shard, std::move(list), stop);
}

std::shared_ptr<const LitDataList> LitDataFormat::list_of(const Stores& stores, const Location& chunk) const {
  const Location folder = chunk.parent();
  const Location at = folder / kLitDataListName;
  const std::optional<ObjectFacts> facts = stores.find(at);
  if (!facts) return nullptr;
  const std::string key = fmt::format("{} {}", facts->strict_version(), at.shown());
  const std::lock_guard lock(mutex_);
  if (list_ && list_key_ == key) return list_;
  std::optional<LitDataList> list = read_litdata_list(stores, folder);
  list_ = list ? std::make_shared<const LitDataList>(*std::move(list)) : nullptr;
  list_key_ = key;
  return list_;
}

LitDataSamples::LitDataSamples(Source& source, std::shared_ptr<const LitDataList> list, std::stop_token stop)
    : source_(source),
      list_(std::move(list)),
      stop_(std::move(stop)),
      key_prefix_(key_prefix_of_file(source.name(), {".zstd.bin", ".bin"})) {}

/// Begins to read: not in the constructor, since that may take long.
void LitDataSamples::open() {
  if (!list_->refusal.empty()) {
    fail(ErrorKind::kData, "'{}' is one of the chunks that '{}' lists: {}", source_.name(), kLitDataListName,
         list_->refusal);
  }
  chunk_.emplace(source_, list_->is_zstd_by_one);
  if (const auto& table = chunk_->table()) table_.emplace(chunk_->places(), table->begin, table->end);
  if (!table_) values_.emplace(*list_, chunk_->places());
  const std::string& name = source_.name();
  const LitDataList::Chunk* const listed = list_->find(std::string_view(name).substr(name.find_last_of('/') + 1));
  if (listed && listed->samples != chunk_->items()) {
    fail(ErrorKind::kData, "'{}' has {} samples, and the '{}' in its folder says {}", name, chunk_->items(),
         kLitDataListName, listed->samples);
  }
}

bool LitDataSamples::next(SampleRow& row) {
  row.clear();
  stop_if_asked(stop_, source_.name());
  if (!chunk_) open();
  row.source = &chunk_->places().source();
  if (table_ ? !next_of_table() : !chunk_->next()) return false;
  const std::uint64_t number = table_ ? table_->number() : chunk_->number();
  row.key = fmt::format("{}{:08}", key_prefix_, number);
  try {
    const std::vector<RowValue>& of_sample = values();
    rows_.fill(row, of_sample, whole(of_sample));
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': sample {} cannot be used: {}", source_.name(), number, wrong.message());
  }
  return true;
}

bool LitDataSamples::next_of_table() {
  const bool is_there = table_->next();
  if (is_there == (table_->number() < chunk_->items())) return is_there;
  fail(ErrorKind::kData, "'{}' is damaged: it is said to have {} samples, and its table of Arrow has {}",
       source_.name(), chunk_->items(), is_there ? "more" : std::to_string(table_->number()));
}

const std::vector<RowValue>& LitDataSamples::values() {
  return table_ ? table_->values() : values_->split(chunk_->item(), chunk_->offset());
}

/// The field of a sample that has nothing but its label.
RowValue LitDataSamples::whole(const std::vector<RowValue>& values) const {
  constexpr std::string_view kName = "sample";
  if (!table_) return {.name = kName, .offset = chunk_->offset(), .length = chunk_->item().size()};
  if (values.empty()) return {.name = kName};
  return {.name = kName, .offset = values.front().offset, .length = values.front().length};
}

ShardNotes LitDataSamples::take_notes() {
  ShardNotes notes;
  notes.blocks = chunk_->places().take();
  std::string pickled;
  for (const LitDataLeaf& leaf : list_->leaves) {
    if (leaf.kind == LitDataKind::kPickle) pickled += fmt::format("{}'{}'", pickled.empty() ? "" : ", ", leaf.name);
  }
  if (!pickled.empty()) {
    notes.problems.push_back(
        fmt::format("'{}': skips what was pickled, since reading it could run any code: {}; optimize() does not pickle "
                    "numbers, texts, bytes, images and arrays",
                    source_.name(), pickled));
  }
  const auto& passed_over = table_ ? table_->passed_over() : values_->passed_over();
  if (!passed_over.empty()) {
    notes.problems.push_back(
        fmt::format("'{}': skips lists that are long, or have truth values or nulls, in '{}'; numpy's arrays are read",
                    source_.name(), fmt::join(passed_over, "', '")));
  }
  return notes;
}

}  // namespace stoker
