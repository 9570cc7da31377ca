#include "stoker/format/arrow/arrow_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/arrow/huggingface_folder.h"
#include "stoker/format/huggingface_features.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

constexpr std::string_view kFeatherV1Magic = "FEA1";

/// The columns that labels can be in, and the numbers of their fields.
std::vector<IntegerColumn> integer_columns(const std::vector<ArrowField>& fields, std::vector<std::size_t>& numbers) {
  std::vector<IntegerColumn> columns;
  for (const ArrowField& field : fields) {
    if (field.dictionary || (field.kind != ArrowKind::kInteger && field.kind != ArrowKind::kTruth)) continue;
    IntegerColumn& column = columns.emplace_back();
    assign_lower_case(column.name, field.name);
    column.path = field.name;
    numbers.push_back(static_cast<std::size_t>(&field - fields.data()));
  }
  return columns;
}

}  // namespace

bool ArrowFormat::is_shard_name(std::string_view name) const {
  return name.ends_with(".arrow") || name.ends_with(".feather");
}

bool ArrowFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_shard_name(shard.name()) || begins_arrow(shard.head()) ||
                                as_text(shard.head()).starts_with(kFeatherV1Magic));
}

bool ArrowFormat::is_list_name(std::string_view name) const { return is_huggingface_list_name(name); }

std::vector<Location> ArrowFormat::listed_shards(const Stores& stores, const Location& folder) const {
  return listed_huggingface_tables(stores, folder);
}

std::unique_ptr<ShardScan> ArrowFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<ArrowSamples>(shard, stop);
}

ArrowSamples::ArrowSamples(Source& source, std::stop_token stop)
    : source_(source),
      stop_(std::move(stop)),
      key_prefix_(key_prefix_of_file(source.name(), {".arrow", ".feather"})),
      places_(source) {}

/// Begins to read: not in the constructor, since that may take long.
void ArrowSamples::open() {
  std::vector<std::uint8_t> head(std::min<std::uint64_t>(source_.size(), kFeatherV1Magic.size()));
  read_fully(source_, 0, head);
  if (as_text(head) == kFeatherV1Magic) {
    fail(ErrorKind::kData,
         "'{}' is of Feather's first version, which is not the format of Arrow; read and write it again by "
         "pyarrow.feather",
         source_.name());
  }
  table_.emplace(places_, 0, source_.size());
  const std::vector<ArrowField>& fields = table_->table().fields();
  std::vector<std::size_t> numbers;
  for (const ArrowField& field : fields) {
    if (field.kind == ArrowKind::kBytes || is_file(field)) rows_.expect_image(field.name);
  }
  const std::vector<IntegerColumn> columns = integer_columns(fields, numbers);
  if (std::optional<LabelColumn> label = label_column(columns, table_->table().huggingface())) {
    label_ = fields[numbers[label->number]].name;
    classes_ = std::move(label->classes);
  }
}

bool ArrowSamples::next(SampleRow& row) {
  row.clear();
  row.source = &places_.source();
  stop_if_asked(stop_, source_.name());
  if (!table_) open();
  if (!table_->next()) return false;
  row.key = fmt::format("{}{:08}", key_prefix_, table_->number());
  const std::vector<RowValue>& values = table_->values();
  RowValue whole{.name = "row"};
  if (!values.empty()) {
    whole.offset = values.front().offset;
    whole.length = values.front().length;
  }
  try {
    rows_.fill(row, values, whole, label_);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': row {} cannot be used: {}", source_.name(), table_->number(), wrong.message());
  }
  return true;
}

ShardNotes ArrowSamples::take_notes() {
  ShardNotes notes{.classes = std::move(classes_), .blocks = places_.take()};
  if (!table_) return notes;
  if (!table_->table().has_end_mark()) {
    notes.problems.push_back(
        fmt::format("'{}': nothing marks its end, as most writers do; it may have been cut after row {}",
                    source_.name(), table_->number()));
  }
  if (!table_->passed_over().empty()) {
    notes.problems.push_back(
        fmt::format("'{}': skips decimals, intervals, and lists that are long, or have truth values or nulls, in '{}'",
                    source_.name(), fmt::join(table_->passed_over(), "', '")));
  }
  if (const std::uint64_t files = table_->files_elsewhere()) {
    notes.problems.push_back(
        fmt::format("'{}': has the path of {} in place of the bytes; save_to_disk() of datasets writes these, too",
                    source_.name(), counted(static_cast<std::int64_t>(files), "file")));
  }
  return notes;
}

}  // namespace stoker
