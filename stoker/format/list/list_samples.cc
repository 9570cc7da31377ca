#include "stoker/format/list/list_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/member_name.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/location.h"

namespace stoker {
namespace {

std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

bool leaves_folder(std::string_view path) { return path.starts_with('/') || path.starts_with("../") || path == ".."; }

/// Whether a row says what its label is; for those that do not a number below 0 is written, or nothing.
bool is_known(const std::optional<std::string>& label) {
  return label && !label->empty() && parse_whole_number(*label, label->size()).value_or(0) >= 0;
}

std::string_view without_start(std::string_view path) {
  while (path.starts_with('/') || path.starts_with("../")) path.remove_prefix(path.find('/') + 1);
  return path;
}

}  // namespace

void ListLabels::see(const std::optional<std::string>& label) {
  if (!is_known(label)) return;
  const bool is_class_number = parse_class_number(*label, label->size()).has_value();
  all_numbers_ = all_numbers_ && is_class_number;
  all_reals_ = all_reals_ && (is_class_number || is_fractional_number(*label));
  if (names_.size() < kClassesMax) {
    names_.insert(*label);
  } else if (!names_.contains(*label)) {
    are_more_ = true;
  }
}

void ListLabels::finish() {
  if (!all_numbers_ && !all_reals_ && !are_more_) classes_.assign(names_.begin(), names_.end());
}

std::int64_t ListLabels::number(const std::optional<std::string>& label) const {
  if (!is_known(label) || are_too_many()) return -1;
  if (all_reals_) return parse_class_number(*label, label->size()).value_or(-1);
  return std::lower_bound(classes_.begin(), classes_.end(), *label) - classes_.begin();
}

ListSamples::ListSamples(ListSource& source, std::unique_ptr<ListRows> rows, std::stop_token stop)
    : source_(source), rows_(std::move(rows)), stop_(std::move(stop)) {
  look_at_all_rows();
}

void ListSamples::look_at_all_rows() {
  PassedOver fractional;
  while (rows_->next(row_)) {
    stop_if_asked(stop_, source_.name());
    if (row_.path.empty() || row_.path.find('\0') != std::string::npos) {
      fail(ErrorKind::kData, "'{}': line {} names no file", source_.name(), row_.line);
    }
    look_anywhere_for(row_.path);
    for (const ListFile& file : row_.files) {
      if (file.path.find('\0') != std::string::npos) {
        fail(ErrorKind::kData, "'{}': line {} names no file", source_.name(), row_.line);
      }
      look_anywhere_for(file.path);
    }
    labels_.see(row_.label);
    if (!row_.unusable_label.empty()) {
      passed_over_.add(row_.unusable_label, row_.path);
      fractional.add(row_.unusable_label, row_.path);
    } else if (row_.label && is_fractional_number(*row_.label)) {
      fractional.add(kFractionalLabel, row_.path);
    }
  }
  labels_.finish();
  if (labels_.are_fractional()) passed_over_ = std::move(fractional);  // texts are among them
  rows_->rewind();
  choose_folder();
}

void ListSamples::look_anywhere_for(const std::string& path) {
  if (!Location(path).is_local()) {
    fail(ErrorKind::kData, "'{}' names '{}', and a list of samples holds paths relative to its folder, not URLs",
         source_.name(), Location(path));
  }
  if (is_anywhere_ || !leaves_folder(normal(path))) return;
  if (!source_.can_read_anywhere()) {
    fail(ErrorKind::kData, "'{}' names '{}', and only lists on this machine may name files outside of their folder",
         source_.name(), path);
  }
  look_anywhere();
}

void ListSamples::look_anywhere() {
  source_.read_anywhere();
  is_anywhere_ = true;
}

void ListSamples::choose_folder() {
  std::vector<std::string> folders = rows_->other_folders();
  if (folders.empty()) return;
  folders.insert(folders.begin(), "");
  const auto has_file = [&](const std::string& folder) {
    if (!is_anywhere_ && leaves_folder(folder)) {
      if (!source_.can_read_anywhere()) return false;
      look_anywhere();
    }
    folder_ = folder;
    return find_length(part_of(row_.path)).has_value();
  };
  auto chosen = folders.end();
  while (chosen == folders.end() && rows_->next(row_)) {
    stop_if_asked(stop_, source_.name());
    chosen = std::find_if(folders.begin(), folders.end(), has_file);
  }
  folder_ = chosen == folders.end() ? "" : *chosen;
  rows_->rewind();
}

std::string ListSamples::part_of(const std::string& path) const {
  if (!is_anywhere_) return normal(folder_ + path);
  // In the folder of all files every path begins there.
  const Location list = Location(source_.name()).absolute();
  const std::string beside = list.parent().text() + '/' + folder_;
  const std::string whole = normal(path.starts_with('/') ? path : beside + path);
  return std::string(without_start(whole));
}

std::optional<std::uint64_t> ListSamples::find_length(const std::string& part) const {
  try {
    return source_.size(part);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kData) return std::nullopt;
    throw;
  }
}

bool ListSamples::next(SampleRow& row) {
  for (;;) {
    row.clear();
    row.source = &source_;
    stop_if_asked(stop_, source_.name());
    if (!rows_->next(row_)) {
      if (found_ == 0 && seen_ > 0) {
        fail(ErrorKind::kData,
             "'{}': none of the {} that it names exists; the last was looked for at '{}{}'; relative paths begin at "
             "the list's folder",
             source_.name(), counted(seen_, "file"), is_anywhere_ ? "/" : "", part_);
      }
      return false;
    }
    ++seen_;
    set_part(row_.path);
    const std::optional<std::uint64_t> length = find_length();
    if (!length) {
      passed_over_.add("missing file", row_.path);
      continue;
    }
    const std::size_t dot = part_.find('.', part_.rfind('/') + 1);
    assign_lower_case(name_, dot == std::string::npos ? "data" : std::string_view(part_).substr(part_.rfind('.') + 1));
    row.fields.push_back({.name = keep_name(name_), .part = part_, .offset = 0, .length = *length});
    add_files(row);
    ++found_;
    set_key(row_.path, row);
    row.label = labels_.number(row_.label);
    add_values(row);
    return true;
  }
}

void ListSamples::set_key(const std::string& path, SampleRow& row) const {
  const std::string whole = normal(path);
  row.key = key_of_file(without_start(whole));
}

/// A sample lacks the field of a file that is missing.
void ListSamples::add_files(SampleRow& row) {
  more_parts_.clear();
  for (const ListFile& file : row_.files) {
    const std::string& part = more_parts_.emplace_back(part_of(file.path));
    const std::optional<std::uint64_t> length = find_length(part);
    if (!length) {
      passed_over_.add("missing file", file.path);
      continue;
    }
    if (row.field(file.field)) {
      fail(ErrorKind::kData, "'{}': line {} names two files of the field '{}'", source_.name(), row_.line, file.field);
    }
    row.fields.push_back({.name = keep_name(file.field), .part = part, .offset = 0, .length = *length});
  }
}

void ListSamples::add_values(SampleRow& row) {
  for (const ListValue& value : row_.values) {
    SampleField field{.name = keep_name(value.name), .part = {}, .offset = value.offset, .length = value.length};
    if (row.field(field.name)) continue;
    if (value.text) {
      if (value.text->size() > kCopiesBytesMax - copies_.size()) {
        fail(ErrorKind::kLimit, "'{}': what it says of files besides their paths takes more than {} of memory",
             source_.name(), byte_count(kCopiesBytesMax));
      }
      field.offset = source_.size() + BlockTable::kGapBytes + copies_.size();  // the table's first place
      field.length = value.text->size();
      copies_.insert(copies_.end(), value.text->begin(), value.text->end());
    }
    row.fields.push_back(field);
  }
}

std::string_view ListSamples::keep_name(std::string_view name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(name).first;
  return *found;
}

ShardNotes ListSamples::take_notes() {
  ShardNotes notes{.classes = rows_->classes().value_or(std::move(labels_.classes())),
                   .problems = passed_over_.sentences(source_.name())};
  if (!copies_.empty()) {
    const auto blocks = std::make_shared<BlockTable>(source_.size());
    blocks->add(HeadedRows{.head = std::move(copies_)});
    blocks->close();
    notes.blocks = blocks;
  }
  if (labels_.are_too_many()) {
    notes.problems.push_back(
        fmt::format("'{}': its labels are more than {} different texts, too many for names of "
                    "classes; samples have none",
                    source_.name(), ListLabels::kClassesMax));
  }
  return notes;
}

}  // namespace stoker
