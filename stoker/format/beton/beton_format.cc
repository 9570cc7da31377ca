#include "stoker/format/beton/beton_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/npy/npy_array.h"

namespace stoker {
namespace {

constexpr std::uint8_t kJpegMode = 0, kRawMode = 1;

/// In the metadata of an image, behind its mode and size; of all else in front.
std::size_t offset_at(const BetonField& field) { return field.offset + (field.type == BetonType::kImage ? 5 : 0); }

std::uint64_t element_bytes(std::string_view element) {
  if (element.ends_with("64")) return 8;
  if (element.ends_with("32")) return 4;
  return element.ends_with("16") ? 2 : 1;
}

}  // namespace

bool BetonFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_shard_name(shard.name()) || is_beton(shard.head()));
}

std::unique_ptr<ShardScan> BetonFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<BetonSamples>(shard, stop);
}

BetonSamples::BetonSamples(Source& source, std::stop_token stop)
    : source_(source),
      stop_(std::move(stop)),
      places_(source),
      key_prefix_(key_prefix_of_file(source.name(), {".beton"})) {}

/// Begins to read: not in the constructor, since that may take long.
void BetonSamples::open() {
  header_ = read_beton_header(source_);
  runs_.resize(header_->fields.size());
  read_allocations();
  metadata_.emplace(source_, header_->metadata_at, header_->metadata_at + header_->samples * header_->metadata_bytes);
}

/// Workers write their samples in any order, the values of each in the order of its fields.
void BetonSamples::read_allocations() {
  const std::size_t of_each = header_->allocated;
  allocations_.resize(header_->samples * of_each);
  SequentialReader table(source_, header_->allocations_at, source_.size());
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    const std::uint8_t* const from = table.take(kBetonAllocationBytes).data();
    const auto sample = load_little_endian<std::uint64_t>(from);
    const Allocation read{.offset = load_little_endian<std::uint64_t>(from + 8),
                          .length = load_little_endian<std::uint64_t>(from + 16)};
    const std::uint64_t begin = header_->metadata_at + header_->samples * header_->metadata_bytes;
    if (sample >= header_->samples || read.offset < begin || read.offset > header_->allocations_at ||
        read.length > header_->allocations_at - read.offset) {
      fail(ErrorKind::kData, "'{}' is damaged: allocation {} is said to be of sample {} and to have {} at byte {}",
           source_.name(), i, sample, byte_count(read.length), read.offset);
    }
    const auto first = allocations_.begin() + static_cast<std::ptrdiff_t>(sample * of_each);
    const auto end = first + static_cast<std::ptrdiff_t>(of_each);
    const auto free = std::find_if(first, end, [](const Allocation& one) { return one.offset == 0; });
    if (free == end) {
      fail(ErrorKind::kData, "'{}' is damaged: sample {} has more allocations than values in pages", source_.name(),
           sample);
    }
    *free = read;
  }
}

bool BetonSamples::next(SampleRow& row) {
  row.clear();
  stop_if_asked(stop_, source_.name());
  if (!metadata_) {
    open();
  } else {
    ++number_;
  }
  row.source = &places_.source();
  if (metadata_->left() == 0) return false;
  const RowValue whole{.name = "sample", .offset = metadata_->position(), .length = header_->metadata_bytes};
  const Bytes bytes = metadata_->take(header_->metadata_bytes);
  of_sample_.assign(bytes.begin(), bytes.end());
  row.key = fmt::format("{}{:08}", key_prefix_, number_);
  try {
    split();
    rows_.fill(row, values_, whole);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': sample {} cannot be used: {}", source_.name(), number_, wrong.message());
  }
  return true;
}

void BetonSamples::split() {
  values_.clear();
  const std::uint64_t metadata_at = header_->metadata_at + number_ * header_->metadata_bytes;
  std::size_t next_allocation = number_ * header_->allocated;
  for (std::size_t i = 0; i < header_->fields.size(); ++i) {
    const BetonField& field = header_->fields[i];
    const std::uint8_t* const from = of_sample_.data() + field.offset;
    if (!field.is_allocated()) {
      const bool is_integer = field.type == BetonType::kInteger;
      values_.push_back({.name = field.name,
                         .offset = metadata_at + field.offset,
                         .length = 8,
                         .ending = is_integer ? "i64" : "f64"});
      if (is_integer) values_.back().integer = load_little_endian<std::int64_t>(from);
      continue;
    }
    const Allocation& at = allocations_[next_allocation++];
    const auto offset = load_little_endian<std::uint64_t>(of_sample_.data() + offset_at(field));
    if (at.offset != offset) {
      fail(ErrorKind::kData, "its '{}' is said to lie at byte {}, and to be allocated at byte {}", field.name, offset,
           at.offset);
    }
    switch (field.type) {
      case BetonType::kImage: add_image(i, at); break;
      case BetonType::kArray:
      case BetonType::kTensor: add_array(i, at); break;
      default: {
        const bool is_json = field.type == BetonType::kJson;
        const auto length = load_little_endian<std::uint64_t>(from + 8);
        if (length != at.length || (is_json && length == 0)) {
          fail(ErrorKind::kData, "its '{}' is said to have {}, and {} are allocated", field.name, byte_count(length),
               at.length);
        }
        values_.push_back({.name = field.name,
                           .offset = at.offset,
                           .length = is_json ? length - 1 : length,  // without the zero
                           .ending = is_json ? "json" : ""});
      }
    }
  }
}

void BetonSamples::add_image(std::size_t number, const Allocation& at) {
  const BetonField& field = header_->fields[number];
  const std::uint8_t* const from = of_sample_.data() + field.offset;
  const std::uint8_t mode = from[0];
  const auto width = load_little_endian<std::uint16_t>(from + 1), height = load_little_endian<std::uint16_t>(from + 3);
  if (mode == kJpegMode) {
    values_.push_back(
        {.name = field.name, .offset = at.offset, .length = at.length, .ending = "jpg", .is_image = true});
    return;
  }
  if (mode != kRawMode) fail(ErrorKind::kData, "its '{}' is stored in an unknown way, {}", field.name, mode);
  if (at.length == 0 || at.length != std::uint64_t{width} * height * 3) {
    fail(ErrorKind::kData, "its '{}' is said to be {} x {} pixels, and has {}", field.name, width, height,
         byte_count(at.length));
  }
  add_picture(number, at, {1, height, width, 3});
}

void BetonSamples::add_array(std::size_t number, const Allocation& at) {
  const BetonField& field = header_->fields[number];
  std::uint64_t left = at.length;
  bool fits = true;
  for (const std::uint64_t axis : field.shape) {
    fits = fits && axis > 0 && left % axis == 0;
    if (fits) left /= axis;
  }
  if (!field.element.empty() && (!fits || left != element_bytes(field.element))) {
    fail(ErrorKind::kData, "its array '{}' has {}, which are not what its shape asks for", field.name,
         byte_count(at.length));
  }
  std::vector<std::uint64_t> shape = {1};
  shape.insert(shape.end(), field.shape.begin(), field.shape.end());
  const NpyArray one{.type = "u1", .shape = shape, .row_bytes = at.length};
  if (field.element == "u8" && one.has_images()) return add_picture(number, at, std::move(shape));
  values_.push_back({.name = field.name, .offset = at.offset, .length = at.length, .ending = field.element});
}

/// Pictures that follow each other, as most do in a page, are rows of one entry.
void BetonSamples::add_picture(std::size_t number, const Allocation& at, std::vector<std::uint64_t> shape) {
  Run& run = runs_[number];
  if (number_ >= run.first + run.count) {
    if (++runs_made_ > kRunsMax) {
      fail(ErrorKind::kData, "with it there are more than {} runs of pictures stored raw; Stoker reads so many",
           kRunsMax);
    }
    const NpyArray one{.type = "u1", .shape = std::move(shape)};
    HeadedRows rows{.head = one.row_header(),
                    .offset = at.offset,
                    .length = at.length,
                    .count = count_run(header_->fields[number], at)};
    run = {.row_bytes = rows.row_bytes(), .first = number_, .count = rows.count};
    run.place = places_.add(std::move(rows));
  }
  values_.push_back({.name = header_->fields[number].name,
                     .offset = run.place + (number_ - run.first) * run.row_bytes,
                     .length = run.row_bytes,
                     .ending = "npy",
                     .is_image = true});
}

/// How many samples, from the one at hand on, have a picture of the same size, each right after the one before.
std::uint64_t BetonSamples::count_run(const BetonField& field, const Allocation& at) {
  constexpr std::uint64_t kSamplesAhead = 4096;
  const std::uint64_t bytes = header_->metadata_bytes;
  const Bytes ahead = metadata_->peek(std::min(metadata_->left(), kSamplesAhead * bytes));
  const std::size_t same_bytes = offset_at(field) - field.offset;  // the mode and the size of an image
  const Bytes same = Bytes(of_sample_).subspan(field.offset, same_bytes);
  std::uint64_t count = 1;
  for (std::size_t begin = 0; begin + bytes <= ahead.size(); begin += bytes, ++count) {
    const Bytes there = ahead.subspan(begin + field.offset, same_bytes);
    const auto offset = load_little_endian<std::uint64_t>(ahead.data() + begin + offset_at(field));
    if (!std::equal(same.begin(), same.end(), there.begin()) || offset != at.offset + count * at.length) break;
  }
  return count;
}

ShardNotes BetonSamples::take_notes() {
  ShardNotes notes;
  notes.blocks = places_.take();
  return notes;
}

}  // namespace stoker
