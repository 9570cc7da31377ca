#include "stoker/format/parquet/parquet_format.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/parquet/parquet_shard_writer.h"

namespace stoker {
namespace {

/// How much of each column is read at a time: so that many columns together take no more than a few.
std::size_t read_bytes_for(std::size_t columns) {
  constexpr std::size_t kTogether = std::size_t{32} << 20, kLeast = std::size_t{16} << 10;
  return std::clamp(kTogether / std::max<std::size_t>(columns, 1), kLeast, SequentialReader::kBlockBytes);
}

}  // namespace

bool ParquetFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  const std::string_view head = as_text(shard.head());
  return head.starts_with(kParquetMagic) || head.starts_with(kEncryptedParquetMagic) ||
         shard.name().ends_with(".parquet");
}

std::unique_ptr<ShardScan> ParquetFormat::scan(Source& shard, const std::stop_token& stop) const {
  stop_if_asked(stop, shard.name());
  return std::make_unique<ParquetSamples>(shard, stop);
}

const WritableFormat* ParquetFormat::writing() const {
  static const ParquetWriting writing;
  return &writing;
}

ParquetSamples::ParquetSamples(Source& source, std::stop_token stop, std::uint64_t pages_bytes_max)
    : source_(source),
      stop_(std::move(stop)),
      footer_(read_parquet_footer(source)),
      rows_(footer_, source.name()),
      readers_(rows_.columns().size()),
      places_(source),
      scan_{.file = source, .memory = PageMemory(pages_bytes_max), .places = places_} {
  scan_.read_bytes = read_bytes_for(readers_.size());
}

bool ParquetSamples::next(SampleRow& row) {
  row.clear();
  row.source = &places_.source();
  stop_if_asked(stop_, source_.name());
  while (rows_left_ == 0) {
    if (group_ == footer_.groups.size()) return false;
    begin_group();
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) read_row(rows_.columns()[i], *readers_[i]);
  rows_.fill(row_++, row);
  if (--rows_left_ == 0) end_group();
  return true;
}

void ParquetSamples::begin_group() {
  const ParquetRowGroup& group = footer_.groups[group_];
  rows_left_ = group.rows;
  if (rows_left_ == 0) {
    ++group_;
    return;
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const ParquetColumn* const stored = rows_.columns()[i].stored;
    const auto number = static_cast<std::size_t>(stored - footer_.columns.data());
    readers_[i] = std::make_unique<ParquetColumnReader>(scan_, *stored, group.chunks[number]);
  }
}

void ParquetSamples::end_group() {
  for (std::unique_ptr<ParquetColumnReader>& reader : readers_) {
    if (!reader->ended()) {
      fail(ErrorKind::kData, "'{}' is damaged: column '{}' has values beyond the {} of row group {}", source_.name(),
           reader->column().path, counted(footer_.groups[group_].rows, "row"), group_);
    }
    reader.reset();
  }
  ++group_;
}

void ParquetSamples::read_row(ParquetRowColumn& column, ParquetColumnReader& reader) {
  column.clear();
  if (!column.is_list()) return read_entry(column, reader);
  if (reader.ended() || !reader.begins_row()) {
    fail(ErrorKind::kData, "'{}' is damaged: column '{}' has no list for row {}", source_.name(), column.stored->path,
         row_);
  }
  do {
    column.is_number() ? read_numbers(column, reader) : read_entry(column, reader);
  } while (!reader.begins_row());
  if (column.is_number()) column.join(places_);
}

void ParquetSamples::read_numbers(ParquetRowColumn& column, ParquetColumnReader& reader) {
  const ParquetNumbers found = reader.next_numbers();
  column.add(found);
  // The list may go on in the next page.
  if (found.page_ends && found.count > 0 && column.may_join()) reader.append_last_numbers(found.count, column.numbers);
}

void ParquetSamples::read_entry(ParquetRowColumn& column, ParquetColumnReader& reader) {
  const ParquetEntry entry = reader.next();
  if (entry.definition >= column.stored->element_definition) ++column.count;
  if (entry.value) {
    keep_value(column, reader, *entry.value);
  }
}

void ParquetSamples::keep_value(ParquetRowColumn& column, ParquetColumnReader& reader, const ParquetValue& value) {
  if (!column.is_list()) {
    column.bytes = value.bytes;
    column.integer = value.integer;
  }
  if (column.is_label) return;
  const bool is_lost = value.place == ParquetValue::Place::kNowhere;
  if (column.is_broken || is_lost || (!column.is_number() && column.values.size() == ParquetRowColumn::kListMax)) {
    column.is_broken = true;
    return;
  }
  column.add(reader.offset(value), value.bytes);
}

ShardNotes ParquetSamples::take_notes() {
  ParquetRowNotes notes = rows_.take_notes();
  return {.classes = std::move(notes.classes), .problems = std::move(notes.problems), .blocks = places_.take()};
}

}  // namespace stoker
