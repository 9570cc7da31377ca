#include "stoker/format/mds/mds_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/compressed_file.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/mds/mds_folder.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using Names = std::span<const std::string_view>;

// The usual names of columns, in lower case, in the order in which they are looked for.
constexpr std::string_view kKeyColumn = "__key__";
constexpr std::string_view kMdsImageNames[] = {"image", "img", "x", "encoded", "image_bytes", "picture"};
constexpr std::string_view kMdsLabelNames[] = {"label", "cls", "class", "y", "target"};
constexpr std::string_view kMdsTextLabelNames[] = {"cls"};
constexpr std::string_view kMdsKeyNames[] = {kKeyColumn, "filename", "file_name", "path"};

bool is_mds_name(std::string_view name) {
  if (const CompressedEnding* ending = compressed_ending(name)) name.remove_suffix(ending->ending.size());
  return name.ends_with(".mds");
}

bool has_name(const MdsColumn& column, std::string_view lower_case) {
  return std::equal(column.name.begin(), column.name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

/// The first column of these names that `fits`.
template <typename Fits>
std::optional<std::size_t> find_column(const std::vector<MdsColumn>& columns, Names names, const Fits& fits) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (has_name(columns[i], name) && fits(i)) return i;
    }
  }
  return std::nullopt;
}

/// The number that the bytes of an integer column hold; nothing above 2^63.
std::optional<std::int64_t> integer_of(const MdsColumn& column, Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
  const auto bits = static_cast<unsigned>(8 * bytes.size());
  if (column.is_signed && bits < 64 && (number >> (bits - 1)) != 0) number |= ~std::uint64_t{0} << bits;
  const auto value = static_cast<std::int64_t>(number);
  return !column.is_signed && value < 0 ? std::nullopt : std::optional(value);
}

bool says_what_it_holds(std::string_view name, std::string_view extension) {
  return name == extension || (name.ends_with(extension) && name[name.size() - extension.size() - 1] == '.');
}

}  // namespace

bool MdsFormat::is_shard_name(std::string_view name) const { return is_mds_name(name); }

bool MdsFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_mds_name(shard.name()) || is_mds(shard.head()));
}

std::vector<Location> MdsFormat::listed_shards(const Stores& stores, const Location& folder) const {
  return listed_mds_shards(stores, folder);
}

std::unique_ptr<ShardScan> MdsFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<MdsSamples>(shard, stop);
}

MdsSamples::MdsSamples(Source& source, std::stop_token stop)
    : source_(source),
      stop_(std::move(stop)),
      key_prefix_(key_prefix_of_file(source.name(), {".zstd", ".zst", ".gz", ".snappy", ".mds"})) {}

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
  values_.resize(header_.columns.size());
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
  take_sample();
  try {
    split_values();
    fill(row);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': {} cannot be used: {}", source_.name(), place(), wrong.message());
  }
  return true;
}

void MdsSamples::take_sample() {
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
  offset_ = all_.begin + begin;
  sample_ = samples_->take(static_cast<std::size_t>(end_ - begin));
}

void MdsSamples::split_values() {
  const auto varies = static_cast<std::size_t>(
      std::count_if(header_.columns.begin(), header_.columns.end(), [](const MdsColumn& one) { return !one.size; }));
  if (sample_.size() < varies * sizeof(std::uint32_t)) {
    fail(ErrorKind::kData, "it has {}, and no sizes of its {} values", byte_count(sample_.size()), varies);
  }
  const std::uint8_t* size = sample_.data();
  Bytes rest = sample_.subspan(varies * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const MdsColumn& column = header_.columns[i];
    std::uint32_t length = column.size.value_or(0);
    if (!column.size) {
      length = load_little_endian<std::uint32_t>(size);
      size += sizeof(std::uint32_t);
    }
    if (length > rest.size()) {
      fail(ErrorKind::kData, "its '{}' is said to have {}, and {} are left", column.name, byte_count(length),
           rest.size());
    }
    values_[i] = {.bytes = rest.first(length), .extension = {}};
    rest = rest.subspan(length);
    const bool may_be_image = column.kind == MdsKind::kImage || column.kind == MdsKind::kBytes;
    if (may_be_image) values_[i].extension = extension_of_bytes(values_[i].bytes);
    if (column.kind == MdsKind::kImage && values_[i].extension.empty()) {
      values_[i].extension = column.encoding == "png" ? "png" : "jpg";  // what is wrong with it its decoder says
    }
  }
  if (!rest.empty()) fail(ErrorKind::kData, "{} follow its last value", byte_count(rest.size()));
}

void MdsSamples::fill(SampleRow& row) {
  label_.reset();
  set_key(row);
  set_label(row);
  const std::optional<std::size_t> the_image = image();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (label_ == i || header_.columns[i].name == kKeyColumn) continue;  // the row has them
    add_column(row, i, the_image == i);
  }
  if (row.fields.empty()) {
    name_ = "sample";
    add_field(row, sample_);
  }
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

void MdsSamples::set_key(SampleRow& row) {
  const auto names_something = [&](std::size_t i) {
    return header_.columns[i].kind == MdsKind::kText && !values_[i].bytes.empty();
  };
  if (const auto found = find_column(header_.columns, kMdsKeyNames, names_something)) {
    const std::string_view name = as_text(values_[*found].bytes);
    const bool is_key = header_.columns[*found].name == kKeyColumn;
    const std::optional<MemberName> file = is_key ? std::nullopt : split_member_name(name);
    row.key = file ? file->key : name;
  } else {
    row.key = fmt::format("{}{:08}", key_prefix_, number_);
  }
}

void MdsSamples::set_label(SampleRow& row) {
  const auto is_integer = [&](std::size_t i) { return header_.columns[i].kind == MdsKind::kInteger; };
  if (const auto found = find_column(header_.columns, kMdsLabelNames, is_integer)) {
    const std::optional<std::int64_t> number = integer_of(header_.columns[*found], values_[*found].bytes);
    row.label = std::max<std::int64_t>(number.value_or(-1), -1);
    label_ = found;
    return;
  }
  const auto is_digits = [&](std::size_t i) { return header_.columns[i].encoding == "str_int"; };
  const auto is_text = [&](std::size_t i) { return header_.columns[i].kind == MdsKind::kText; };
  auto found = find_column(header_.columns, kMdsLabelNames, is_digits);
  if (!found) found = find_column(header_.columns, kMdsTextLabelNames, is_text);
  if (!found) return;
  const std::string_view digits = as_text(values_[*found].bytes);
  row.label = parse_class_number(digits, digits.size()).value_or(-1);
}

std::optional<std::size_t> MdsSamples::image() const {
  const std::vector<MdsColumn>& columns = header_.columns;
  // Its name says so itself.
  for (const MdsColumn& column : columns) {
    if (is_image_field_name(column.name) && column.name.find_first_of("./") == std::string::npos) return std::nullopt;
  }
  const auto is_image = [&](std::size_t i) { return !values_[i].extension.empty(); };
  if (const auto usual = find_column(columns, kMdsImageNames, is_image)) return usual;
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_image(i)) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

void MdsSamples::add_column(SampleRow& row, std::size_t i, bool is_image) {
  const MdsColumn& column = header_.columns[i];
  std::string_view extension = values_[i].extension;
  if (is_image) {
    name_ = extension;
    return add_field(row, values_[i].bytes);
  }
  assign_lower_case(name_, column.name);
  switch (column.kind) {
    case MdsKind::kPickle: return;
    case MdsKind::kArray: return add_array(row, column, values_[i].bytes);
    case MdsKind::kInteger:
    case MdsKind::kFloat: extension = column.type; break;
    case MdsKind::kPixels: extension = "pil"; break;
    case MdsKind::kJson: extension = "json"; break;
    case MdsKind::kText: break;
    case MdsKind::kImage:
    case MdsKind::kBytes:
      if (is_image_field_name(name_)) extension = {};
      break;
  }
  if (!extension.empty() && !says_what_it_holds(name_, extension)) name_.append(".").append(extension);
  add_field(row, values_[i].bytes);
}

/// The values as they lie there, and what stands in front of them: the type in the name, the shape as a field of its
/// own.
void MdsSamples::add_array(SampleRow& row, const MdsColumn& column, Bytes bytes) {
  const auto take = [&](std::size_t count) {
    if (bytes.size() < count) fail(ErrorKind::kData, "its array '{}' is too short for its shape", column.name);
    const Bytes taken = bytes.first(count);
    bytes = bytes.subspan(count);
    return taken;
  };
  std::string_view type = column.type;
  if (type.empty()) {
    const std::uint8_t number = take(1)[0];
    type = mds_array_type(number);
    if (type.empty()) fail(ErrorKind::kData, "its array '{}' is of an unknown type, {}", column.name, number);
  }
  const std::string name = name_;
  if (!column.has_shape) {
    const std::uint8_t axes = take(1)[0];
    const std::size_t axis_bytes = std::size_t{1} << (axes & 3);
    const Bytes shape = take((axes >> 2) * axis_bytes);
    if (!shape.empty()) {
      name_ = fmt::format("{}.shape.u{}", name, 8 * axis_bytes);
      add_field(row, shape);
    }
  }
  name_ = fmt::format("{}.{}", name, type);
  add_field(row, bytes);
}

/// Its name is `name_`.
void MdsSamples::add_field(SampleRow& row, Bytes value) {
  std::replace(name_.begin(), name_.end(), '/', '.');
  if (name_.empty()) name_ = "value";
  auto name = names_.find(name_);
  if (name == names_.end()) name = names_.insert(name_).first;
  const auto begin = static_cast<std::uint64_t>(value.data() - sample_.data());
  row.fields.push_back({.name = *name, .part = {}, .offset = offset_ + begin, .length = value.size()});
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
