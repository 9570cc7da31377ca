#include "stoker/format/hdf5/hdf5_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/field_names.h"
#include "stoker/format/hdf5/hdf5_group.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/npy/npy_array.h"
#include "stoker/format/tfrecord/tfrecord_format.h"

namespace stoker {
namespace {

constexpr int kGroupDepthMax = 16;
constexpr std::size_t kGroupsMax = 4096, kMembersOfAllMax = 65536;
constexpr std::uint64_t kKeyBytesMax = 4096;
constexpr std::uint64_t kStopEvery = 4096;

const std::vector<std::string_view> kImageDatasets = {"image",   "images", "img",       "imgs",        "x",      "data",
                                                      "encoded", "pixels", "image_raw", "image_bytes", "picture"};
const std::vector<std::string_view> kLabelDatasets = {"label", "labels", "y", "cls", "class", "target", "targets"};

bool is_named(const std::string& name, const std::vector<std::string_view>& names) {
  std::string lower_case;
  assign_lower_case(lower_case, name);
  return std::find(names.begin(), names.end(), lower_case) != names.end();
}

NpyArray array_of(const Hdf5Dataset& dataset) {
  return {.type = dataset.type.element,
          .is_big_endian = dataset.type.is_big_endian,
          .shape = dataset.shape,
          .row_bytes = hdf5_row_bytes(dataset)};
}

/// Whether rows are pictures stored raw.
bool has_array_images(const Hdf5Dataset& dataset) {
  return dataset.type.kind == Hdf5Type::Kind::kNumber && dataset.row_elements() > 1 && array_of(dataset).has_images();
}

/// Whether rows may be images: pixels, or bytes whose dataset is called so.
bool may_have_images(const Hdf5Dataset& dataset) {
  const bool has_bytes = dataset.type.kind == Hdf5Type::Kind::kBytes || dataset.type.kind == Hdf5Type::Kind::kVarying;
  return has_array_images(dataset) || (has_bytes && is_named(dataset.name, kImageDatasets));
}

bool may_be_label(const Hdf5Dataset& dataset) {
  return is_named(dataset.name, kLabelDatasets) && dataset.type.is_integer() && dataset.row_elements() == 1;
}

/// Whether no element was written, and no sample needs one: so are the dimensions of netCDF-4, which are datasets of
/// fill values.
bool is_unwritten_and_not_needed(const Hdf5Dataset& dataset) {
  return dataset.was_never_written() && !may_have_images(dataset) && !may_be_label(dataset);
}

/// A number of up to 8 bytes.
std::int64_t integer_of(const Hdf5Type& type, Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{bytes[type.is_big_endian ? bytes.size() - 1 - i : i]} << 8 * i;
  }
  const std::size_t unused = 64 - 8 * bytes.size();
  const auto extended = static_cast<std::int64_t>(value << unused);
  return type.element[0] == 'i' ? extended >> unused : static_cast<std::int64_t>(value);
}

/// Without what fills up strings that are shorter than others.
std::uint64_t length_without_padding(Hdf5Type::Padding padding, Bytes value) {
  if (padding == Hdf5Type::Padding::kNone) return value.size();
  const std::uint8_t filler = padding == Hdf5Type::Padding::kSpaces ? ' ' : '\0';
  std::size_t length = value.size();
  while (length > 0 && value[length - 1] == filler) --length;
  return length;
}

}  // namespace

bool Hdf5Format::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (as_text(shard.head()).starts_with(kHdf5Signature) || is_shard_name(shard.name()));
}

bool Hdf5Format::is_shard_name(std::string_view name) const {
  return name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".he5");
}

std::unique_ptr<ShardScan> Hdf5Format::scan(Source& shard, const std::stop_token& stop) const {
  stop_if_asked(stop, shard.name());
  return std::make_unique<Hdf5Samples>(shard, stop);
}

bool Hdf5Samples::Column::is_inner_key() const { return is_key && name == kKeyFeatures.front(); }

bool Hdf5Samples::Column::can_be_image_array() const { return use == Use::kArray && has_array_images(dataset); }

Hdf5Samples::Hdf5Samples(Source& source, std::stop_token stop, Hdf5Checksums checksums)
    : source_(source),
      stop_(std::move(stop)),
      key_prefix_(key_prefix_of_file(source.name(), {".h5", ".hdf5", ".he5"})),
      file_(source, checksums),
      heap_(file_, source),
      places_(source),
      usual_image_(kImageDatasets) {
  choose_rows(find_datasets());
  choose_label();
  name_columns();
  for (const Column& column : columns_) {
    if (column.has_bytes()) usual_image_.expect(column.name);
  }
  place_columns();
}

std::vector<Hdf5Dataset> Hdf5Samples::find_datasets() {
  collect(file_.root(), "", 0);
  if (groups_.empty()) fail(ErrorKind::kData, "'{}' has no datasets with rows", source_.name());
  // Those of the root, or of the only group that has any.
  if (!groups_.front().path.empty() && groups_.size() > 1) {
    fail(ErrorKind::kData,
         "'{}' has datasets in several groups ('{}', '{}'), and none outside; Stoker reads those of one: `h5copy -i {} "
         "-s /{} -d /{} -p -o NEW` gives a group a file of its own",
         source_.name(), groups_[0].path, groups_[1].path, source_.name(), groups_[0].path, groups_[0].path);
  }
  return std::move(groups_.front().datasets);
}

void Hdf5Samples::collect(std::uint64_t address, std::string path, int depth) {
  stop_if_asked(stop_, source_.name());
  if (depth > kGroupDepthMax || seen_.size() > kGroupsMax || members_seen_ > kMembersOfAllMax ||
      path.size() > kNameBytesMax) {
    fail(ErrorKind::kLimit, "'{}' has more groups, or deeper ones, or with longer names, than Stoker looks into",
         source_.name());
  }
  // A group may be a member of several, and of itself.
  if (std::find(seen_.begin(), seen_.end(), address) != seen_.end()) return;
  seen_.push_back(address);
  const Hdf5Object object(file_, address);
  Hdf5Group group = read_hdf5_group(file_, object);
  members_seen_ += group.members.size();  // groups may share them
  if (group.links > 0) {
    notes_.problems.push_back(fmt::format("'{}': does not follow {} to other places{}", source_.name(),
                                          counted(group.links, "link"),
                                          path.empty() ? "" : fmt::format(" in group '{}'", path)));
  }
  std::vector<Hdf5Dataset> datasets;
  std::vector<Hdf5Member> inner;
  for (Hdf5Member& member : group.members) {
    const Hdf5Object one(file_, member.address);
    if (is_hdf5_array(file_, one)) {
      datasets.push_back(read_hdf5_dataset(file_, one, escaped(member.name)));
    } else if (is_hdf5_group(one)) {
      inner.push_back(std::move(member));
    }
  }
  if (!datasets.empty()) groups_.push_back({path, std::move(datasets)});
  const bool is_root_enough = path.empty() && !groups_.empty();
  if (is_root_enough) return;
  for (const Hdf5Member& member : inner) {
    if (groups_.size() > 1) return;  // which is too many already
    collect(member.address, path.empty() ? escaped(member.name) : path + '/' + escaped(member.name), depth + 1);
  }
}

void Hdf5Samples::choose_rows(std::vector<Hdf5Dataset> datasets) {
  const auto differs = [](const std::vector<const Hdf5Dataset*>& all) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto* one) { return one->rows() != all[0]->rows(); });
    return found == all.end() ? nullptr : *found;
  };
  if (!std::all_of(datasets.begin(), datasets.end(), is_unwritten_and_not_needed)) {
    std::erase_if(datasets, [&](const Hdf5Dataset& dataset) {
      if (!is_unwritten_and_not_needed(dataset)) return false;
      skip(dataset, "was never written");
      return true;
    });
  }
  std::vector<const Hdf5Dataset*> all, images;
  for (const Hdf5Dataset& dataset : datasets) {
    all.push_back(&dataset);
    if (may_have_images(dataset)) images.push_back(&dataset);
  }
  const std::vector<const Hdf5Dataset*>& deciding = images.empty() ? all : images;
  if (const Hdf5Dataset* other = differs(deciding)) {
    fail(ErrorKind::kData,
         "'{}': '{}' has {} and '{}' has {}; the datasets of a file need a row for each sample: put those of several "
         "sets "
         "into files of their own",
         source_.name(), deciding[0]->name, counted(deciding[0]->rows(), "row"), other->name,
         counted(other->rows(), "row"));
  }
  rows_ = deciding[0]->rows();
  if (rows_ > source_.size()) {
    fail(ErrorKind::kData, "'{}' is truncated or damaged: it would have {} in {}", source_.name(),
         counted(rows_, "sample"), byte_count(source_.size()));
  }
  for (Hdf5Dataset& dataset : datasets) {
    if (dataset.rows() == rows_) {
      add_column(std::move(dataset));
    } else {
      skip(dataset, fmt::format("has {}, and the others {}", counted(dataset.rows(), "row"), rows_));
    }
  }
}

void Hdf5Samples::skip(const Hdf5Dataset& dataset, std::string_view why) {
  notes_.problems.push_back(fmt::format("'{}': skips the dataset '{}', which {}", source_.name(), dataset.name, why));
}

void Hdf5Samples::add_column(Hdf5Dataset dataset) {
  const Hdf5Type& type = dataset.type;
  if (type.kind == Hdf5Type::Kind::kOther) return skip(dataset, fmt::format("has {}", type.other));
  const bool has_bytes = type.kind == Hdf5Type::Kind::kBytes || type.kind == Hdf5Type::Kind::kVarying;
  if (has_bytes && dataset.row_elements() > 1) return skip(dataset, "has several texts or lists in a row");
  if (type.kind == Hdf5Type::Kind::kVarying && type.is_big_endian)
    return skip(dataset, "has lists of big-endian numbers");
  if (type.kind == Hdf5Type::Kind::kVarying && type.size != heap_.reference_bytes()) {
    fail(ErrorKind::kData, "'{}' is damaged: an element of '{}' has {}", source_.name(), dataset.name,
         byte_count(type.size));
  }
  const bool is_needed = has_bytes || has_array_images(dataset) || may_be_label(dataset);
  if (const std::optional<std::string> why = why_no_hdf5_rows(dataset)) {
    if (!is_needed) return skip(dataset, *why);
    fail(ErrorKind::kData, "'{}': dataset '{}' {}", source_.name(), dataset.name, *why);
  }
  Column column{.dataset = std::move(dataset)};
  const Hdf5Type& own = column.dataset.type;
  assign_lower_case(column.name, column.dataset.name);
  if (own.kind == Hdf5Type::Kind::kBytes) {
    column.use = Column::Use::kBytes;
  } else if (own.kind == Hdf5Type::Kind::kVarying) {
    column.use = Column::Use::kVarying;
  } else if (column.dataset.row_elements() == 1 && !own.is_big_endian) {
    column.use = Column::Use::kNumber;
  }
  columns_.push_back(std::move(column));
}

template <typename Fits>
Hdf5Samples::Column* Hdf5Samples::find(const std::vector<std::string_view>& names, const Fits& fits) {
  for (const std::string_view name : names) {
    for (Column& column : columns_) {
      if (column.name == name && fits(column)) return &column;
    }
  }
  return nullptr;
}

void Hdf5Samples::choose_label() {
  if (columns_.size() < 2) return;
  Column* const label = find(kLabelDatasets, [](const Column& column) {
    return column.dataset.type.is_integer() && column.dataset.row_elements() == 1;
  });
  if (label) label->is_label = true;
  if (Column* key = find(kKeyFeatures, [](const Column& column) {
        return column.has_bytes() && column.dataset.type.element.empty();
      })) {
    key->is_key = true;
  }
}

/// One array alone has the name of raw pixels.
void Hdf5Samples::name_columns() {
  const auto fits = [](const Column& column) { return !column.is_label && column.can_be_image_array(); };
  Column* image = find(kImageDatasets, fits);
  if (!image) {
    const auto first = std::find_if(columns_.begin(), columns_.end(), fits);
    if (first != columns_.end()) image = &*first;
  }
  for (Column& column : columns_) {
    const Hdf5Type& type = column.dataset.type;
    if (column.use == Column::Use::kArray) column.name = &column == image ? "npy" : column.name + ".npy";
    const bool is_number =
        column.use == Column::Use::kNumber || (column.use == Column::Use::kVarying && !type.element.empty());
    if (!is_number) continue;
    column.name += fmt::format(".{}{}", type.element[0], 8 * type.element_size);
  }
  std::set<std::string_view> names;
  for (const Column& column : columns_) {
    if (column.is_label || names.insert(column.name).second) continue;
    fail(ErrorKind::kData, "'{}' has two datasets for the field '{}'", source_.name(), column.name);
  }
}

void Hdf5Samples::place_columns() {
  std::uint64_t held = 0;
  for (Column& column : columns_) {
    stop_if_asked(stop_, source_.name());
    const std::vector<Hdf5Piece> pieces = hdf5_pieces(file_, column.dataset);
    column.row_bytes = hdf5_row_bytes(column.dataset);
    const bool is_read = column.is_label || column.has_bytes();
    if (is_read && !pieces.empty()) {
      column.reader = std::make_unique<Hdf5RowReader>(source_, column.dataset.name, pieces, column.row_bytes);
      held += column.reader->bytes_max();
    }
    if (column.is_label || column.is_inner_key() || column.use == Column::Use::kVarying) continue;
    column.runs = place_hdf5_rows(column.dataset, pieces, places_);
    if (column.use == Column::Use::kArray) place_arrays(column, pieces);
  }
  if (held > kRowsBytesMax) {
    fail(ErrorKind::kLimit, "'{}': reading the rows of its datasets together takes {}; the limit is {}", source_.name(),
         byte_count(held), byte_count(kRowsBytesMax));
  }
}

void Hdf5Samples::place_arrays(Column& column, const std::vector<Hdf5Piece>& pieces) {
  const std::vector<std::uint8_t> head = array_of(column.dataset).row_header();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Hdf5Run& run = column.runs[i];
    run.place = places_.add({.head = head, .offset = run.place, .length = column.row_bytes, .count = run.rows});
  }
  column.row_bytes += head.size();
}

bool Hdf5Samples::next(SampleRow& row) {
  row.clear();
  row.source = &places_.source();
  if (next_ == rows_) return false;
  if (next_ % kStopEvery == 0) stop_if_asked(stop_, source_.name());
  for (Column& column : columns_) read_row(column);
  set_key(row);
  set_label(row);
  choose_image();
  named_by_bytes_.clear();
  for (const Column& column : columns_) {
    if (!column.is_label && !column.is_inner_key()) add_field(row, column);
  }
  require_different_names(row);
  ++next_;
  return true;
}

void Hdf5Samples::read_row(Column& column) {
  column.offset = column.length = 0;
  column.extension = {};
  if (!column.runs.empty()) {
    while (next_ >= column.runs[column.run].first + column.runs[column.run].rows) ++column.run;
    const Hdf5Run& run = column.runs[column.run];
    column.offset = run.place + (next_ - run.first) * column.row_bytes;
    column.length = column.row_bytes;
  }
  if (!column.has_bytes()) return;
  const Bytes value = column.reader->row(next_);
  if (column.use == Column::Use::kBytes) {
    column.length = length_without_padding(column.dataset.type.padding, value);
    column.extension = extension_of_bytes(value.first(static_cast<std::size_t>(column.length)));
    return;
  }
  const Hdf5Value found = heap_.find(value, column.dataset.type.element_size);
  column.offset = found.offset;
  column.length = found.length;
  if (column.dataset.type.element.empty())
    column.extension = extension_of_bytes(heap_.read(found, kImageBeginningBytes));
}

void Hdf5Samples::set_key(SampleRow& row) {
  row.key = fmt::format("{}{:08}", key_prefix_, next_);
  const auto key = std::find_if(columns_.begin(), columns_.end(), [](const Column& any) { return any.is_key; });
  if (key == columns_.end() || key->length == 0) return;
  if (key->length > kKeyBytesMax) {
    fail(ErrorKind::kData, "'{}': the key of row {} in dataset '{}' has {}; the limit is {}", source_.name(), next_,
         key->dataset.name, byte_count(key->length), byte_count(kKeyBytesMax));
  }
  const Bytes bytes = key->use == Column::Use::kBytes
                          ? key->reader->row(next_).first(static_cast<std::size_t>(key->length))
                          : heap_.read({key->offset, key->length}, static_cast<std::size_t>(key->length));
  const std::string_view name = as_text(bytes);
  row.key = key->name == kKeyFeatures.front() ? std::string(name) : key_of_file(name);
}

void Hdf5Samples::set_label(SampleRow& row) {
  const auto label = std::find_if(columns_.begin(), columns_.end(), [](const Column& any) { return any.is_label; });
  if (label == columns_.end()) return;
  row.label = std::max<std::int64_t>(-1, integer_of(label->dataset.type, label->reader->row(next_)));
}

void Hdf5Samples::choose_image() {
  image_values_.clear();
  for (const Column& column : columns_) {
    UsualImage::Value& value = image_values_.emplace_back();
    if (!column.has_bytes()) continue;
    value = {.name = column.name, .extension = column.extension, .is_bytes = column.length > 0};
  }
  image_ = usual_image_.choose(image_values_);
}

void Hdf5Samples::add_field(SampleRow& row, const Column& column) {
  const bool is_image = image_.number == &column - columns_.data();
  name_ = is_image ? image_.extension : std::string_view(column.name);
  const bool says_so = is_image || image_.is_missing || is_image_field_name(name_);
  if (!column.extension.empty() && !says_so) name_.append(".").append(column.extension);
  std::replace(name_.begin(), name_.end(), '/', '.');
  if (name_.empty()) name_ = "data";
  if (is_image || !column.extension.empty()) named_by_bytes_.push_back(row.fields.size());
  auto name = names_.find(name_);
  if (name == names_.end()) name = names_.insert(name_).first;
  row.fields.push_back({.name = *name, .part = {}, .offset = column.offset, .length = column.length});
}

/// Other names than those that their first bytes give to values are known to differ.
void Hdf5Samples::require_different_names(const SampleRow& row) const {
  for (const std::size_t one : named_by_bytes_) {
    for (std::size_t other = 0; other < row.fields.size(); ++other) {
      if (other == one || row.fields[other].name != row.fields[one].name) continue;
      fail(ErrorKind::kData, "'{}': row {} has two values of the name '{}'", source_.name(), next_,
           row.fields[one].name);
    }
  }
}

ShardNotes Hdf5Samples::take_notes() {
  notes_.blocks = places_.take();
  return std::move(notes_);
}

}  // namespace stoker
