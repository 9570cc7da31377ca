#include "stoker/format/npy/npy_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/units.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/npy/npy_array.h"
#include "stoker/format/zip/zip_directory.h"
#include "stoker/storage/block_source.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLabelNames = {"label"sv, "labels"sv, "y"sv, "target"sv, "targets"sv};
constexpr std::size_t kLabelsAtOnce = 65536;

/// An array with its name, and where its rows appear to lie.
struct NamedArray {
  std::string name;  // of its file in an archive, without the extension
  NpyArray array;
  std::string field{};
  std::uint64_t place = 0, row_bytes = 0;  // with the header of a row
};

/// A number of up to 8 bytes.
std::int64_t integer_at(const NpyArray& array, Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{bytes[array.is_big_endian ? bytes.size() - 1 - i : i]} << 8 * i;
  }
  const std::size_t unused = 64 - 8 * bytes.size();
  const auto extended = static_cast<std::int64_t>(value << unused);
  return array.type[0] == 'i' ? extended >> unused : static_cast<std::int64_t>(value);
}

class NpyScan final : public ShardScan {
 public:
  NpyScan(Source& source, std::stop_token stop)
      : source_(source),
        stop_(std::move(stop)),
        places_(source),
        prefix_(key_prefix_of_file(source.name(), {".npy", ".npz"})) {
    std::array<std::uint8_t, 2> head{};
    if (source.size() >= head.size()) read_fully(source, 0, head);
    if (as_text(head) == "PK") {
      add_archive();
    } else {
      add_array("data", source_, 0, source.size(), fmt::format("'{}'", source.name()));
    }
    require_one_length();
    take_labels();
    place_rows();
  }

  bool next(SampleRow& row) override {
    row.clear();
    row.source = &places_.source();
    if (next_ == rows_) return false;
    if (next_ % kLabelsAtOnce == 0) stop_if_asked(stop_, source_.name());
    row.key = fmt::format("{}{:08}", prefix_, next_);
    row.label = label();
    for (const NamedArray& one : arrays_) {
      row.fields.push_back(
          {.name = one.field, .part = {}, .offset = one.place + next_ * one.row_bytes, .length = one.row_bytes});
    }
    ++next_;
    return true;
  }

  ShardNotes take_notes() override {
    ShardNotes notes{.problems = std::move(problems_)};
    notes.blocks = places_.take();
    return notes;
  }

 private:
  void add_array(std::string name, Source& source, std::uint64_t begin, std::uint64_t length, const std::string& what) {
    try {
      arrays_.push_back({std::move(name), read_npy_array(source, begin, length)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kData) throw;
      throw error.with_context(what);
    }
  }

  void add_archive() {
    const ZipDirectory directory(source_, stop_);
    for (const ZipMember& member : directory.members()) {
      const std::string name = escaped(directory.name(member));
      if (!name.ends_with(".npy")) continue;
      const bool is_deflated = member.method == ZipDirectory::kDeflated;
      if (member.is_encrypted || (!is_deflated && member.method != ZipDirectory::kStored)) {
        fail(ErrorKind::kData, "'{}': the array '{}' is encrypted or compressed in a way that numpy does not know",
             source_.name(), name);
      }
      const std::uint64_t place = places_.add({.offset = member.data,
                                               .stored_length = member.stored_length,
                                               .length = member.length,
                                               .codec = is_deflated ? BlockCodec::kDeflate : BlockCodec::kStored});
      add_array(name.substr(0, name.size() - 4), places_.source(), place, member.length,
                fmt::format("'{}', array '{}'", source_.name(), name));
    }
  }

  void require_one_length() {
    if (arrays_.empty()) return;
    rows_ = arrays_.front().array.rows();
    for (const NamedArray& one : arrays_) {
      if (one.array.rows() == rows_) continue;
      fail(ErrorKind::kData, "'{}': '{}' has {} rows and '{}' has {}; arrays by row need one length", source_.name(),
           arrays_.front().name, rows_, one.name, one.array.rows());
    }
  }

  /// The array of class numbers is no field.
  void take_labels() {
    const auto is_labels = [](const NamedArray& one) {
      return one.array.shape.size() == 1 && one.array.is_integer() &&
             std::find(kLabelNames.begin(), kLabelNames.end(), one.name) != kLabelNames.end();
    };
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), is_labels);
    if (found == arrays_.end() || arrays_.size() == 1) return;
    labels_ = std::move(*found);
    arrays_.erase(found);
  }

  void place_rows() {
    bool has_image = false;
    for (NamedArray& one : arrays_) {
      const bool is_image = one.array.has_images() && !std::exchange(has_image, true);
      assign_lower_case(one.field, is_image ? "npy" : one.name + ".npy");
      const auto same = [&](const NamedArray& other) { return &other != &one && other.field == one.field; };
      if (std::any_of(arrays_.begin(), arrays_.end(), same)) {
        fail(ErrorKind::kData, "'{}' has two arrays of the name '{}'", source_.name(), one.field);
      }
      HeadedRows rows{.head = one.array.row_header(),
                      .offset = one.array.offset,
                      .length = one.array.row_bytes,
                      .count = one.array.rows()};
      one.row_bytes = rows.row_bytes();
      one.place = places_.add(std::move(rows));
    }
    if (has_image || arrays_.empty()) return;
    problems_.push_back(
        fmt::format("'{}' has no images: an image is height x width, or that x 1, 3 or 4 channels, of "
                    "uint8; its rows are {} of {}",
                    source_.name(), arrays_.front().array.row_shape(), arrays_.front().array.type));
  }

  std::int64_t label() {
    if (!labels_) return -1;
    const NpyArray& array = labels_->array;
    const std::uint64_t in_chunk = next_ % kLabelsAtOnce;
    if (in_chunk == 0) {
      label_bytes_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(kLabelsAtOnce, rows_ - next_) * array.row_bytes));
      read_fully(places_.source(), array.offset + next_ * array.row_bytes, label_bytes_);
    }
    return std::max<std::int64_t>(
        -1, integer_at(array, Bytes(label_bytes_).subspan(in_chunk * array.row_bytes, array.row_bytes)));
  }

  Source& source_;
  const std::stop_token stop_;
  BlockPlaces places_;
  const std::string prefix_;
  std::vector<NamedArray> arrays_;
  std::optional<NamedArray> labels_;
  std::vector<std::uint8_t> label_bytes_;  // some, from the last multiple of kLabelsAtOnce on
  std::vector<std::string> problems_;
  std::uint64_t rows_ = 0, next_ = 0;
};

}  // namespace

bool NpyFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  return shard.name().ends_with(".npy") || shard.name().ends_with(".npz") ||
         as_text(shard.head()).starts_with("\x93NUMPY");
}

std::unique_ptr<ShardScan> NpyFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<NpyScan>(shard, stop);
}

}  // namespace stoker
