#include "stoker/format/npy/npy_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/units.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/npy/npy_array.h"
#include "stoker/format/npy/npy_sets.h"
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
  /// `images`: of the set that is meant, where there are several.
  NpyScan(Source& source, std::string_view images, std::stop_token stop)
      : source_(source),
        stop_(std::move(stop)),
        places_(source),
        prefix_(key_prefix_of_file(source.name(), {".npy", ".npz"})) {
    std::array<std::uint8_t, 2> head{};
    if (source.size() >= head.size()) read_fully(source, 0, head);
    if (as_text(head) == "PK") {
      add_archive();
    } else {
      if (const std::string why_not = add_array("data", source_, 0, source.size(), fmt::format("'{}'", source.name()));
          !why_not.empty()) {
        fail(ErrorKind::kData, "'{}': {}", source.name(), why_not);
      }
    }
    if (!arrays_.empty()) choose_set(images);
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
    notes_.blocks = places_.take();
    return std::move(notes_);
  }

 private:
  /// Why the array is none of samples; empty if it was added.
  std::string add_array(std::string name, Source& source, std::uint64_t begin, std::uint64_t length,
                        const std::string& what) {
    std::string why_not;
    try {
      std::optional<NpyArray> array = find_npy_array(source, begin, length, why_not);
      if (array) arrays_.push_back({std::move(name), *std::move(array)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kData) throw;
      throw error.with_context(what);
    }
    return why_not;
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
      const std::string why_not = add_array(name.substr(0, name.size() - 4), places_.source(), place, member.length,
                                            fmt::format("'{}', array '{}'", source_.name(), name));
      if (why_not.empty()) continue;
      notes_.problems.push_back(fmt::format("'{}': skips the array '{}': {}", source_.name(), name, why_not));
    }
    if (!arrays_.empty() || notes_.problems.empty()) return;
    fail(ErrorKind::kData, "{}; the file has no other arrays", notes_.problems.front());
  }

  /// Leaves only the arrays of one set.
  void choose_set(std::string_view images) {
    rows_ = arrays_.front().array.rows();
    const auto has_other_length = [&](const NamedArray& one) { return one.array.rows() != rows_; };
    have_one_length_ = std::none_of(arrays_.begin(), arrays_.end(), has_other_length);
    if (have_one_length_ && !have_labels_each()) return;
    std::vector<NpySetArray> arrays;
    for (const NamedArray& one : arrays_) arrays.push_back({one.name, one.array.rows(), one.array.has_images()});
    const std::vector<NpySet> sets = npy_sets(arrays);
    const auto chosen = std::find_if(sets.begin(), sets.end(), [&](const NpySet& set) {
      return std::any_of(set.arrays.begin(), set.arrays.end(),
                         [&](std::size_t one) { return is_called(arrays_[one], images); });
    });
    if (chosen == sets.end()) fail_unchosen(sets, images);
    std::vector<NamedArray> kept;
    for (const std::size_t one : chosen->arrays) {
      if (one == chosen->first) first_ = kept.size();
      kept.push_back(std::move(arrays_[one]));
    }
    arrays_ = std::move(kept);
    rows_ = arrays_.front().array.rows();
    is_one_of_several_ = true;
  }

  /// Whether several arrays of images have labels of their own: "train_labels" and "val_labels".
  bool have_labels_each() const {
    if (std::any_of(arrays_.begin(), arrays_.end(), has_usual_labels)) return false;
    std::set<std::set<std::string, std::less<>>> labelled;
    for (const NamedArray& images : arrays_) {
      if (!images.array.has_images()) continue;
      const auto words = npy_set_words(images.name);
      const auto are_its = [&](const NamedArray& one) { return has_labels(one) && npy_set_words(one.name) == words; };
      if (!words.empty() && std::any_of(arrays_.begin(), arrays_.end(), are_its)) labelled.insert(words);
    }
    return labelled.size() > 1;
  }

  static bool has_labels(const NamedArray& one) {
    return one.array.is_integer() && std::all_of(one.array.shape.begin() + 1, one.array.shape.end(),
                                                 [](std::uint64_t axis) { return axis == 1; });
  }

  static bool has_usual_labels(const NamedArray& one) {
    return has_labels(one) && std::find(kLabelNames.begin(), kLabelNames.end(), one.name) != kLabelNames.end();
  }

  static bool is_called(const NamedArray& one, std::string_view name) {
    std::string lower, wanted;
    assign_lower_case(lower, one.name);
    assign_lower_case(wanted, name);
    std::replace(wanted.begin(), wanted.end(), '/', '.');
    return lower == wanted || lower + ".npy" == wanted;
  }

  [[noreturn]] void fail_unchosen(const std::vector<NpySet>& sets, std::string_view images) const {
    std::string listed;
    for (const NpySet& set : sets) {
      listed += fmt::format("{}'{}'", listed.empty() ? "" : ", ", arrays_[set.first].name);
      std::string_view before = " with";
      for (const std::size_t one : set.arrays) {
        if (one != set.first) listed += fmt::format("{} '{}'", std::exchange(before, " and"), arrays_[one].name);
      }
      listed += fmt::format(" ({})", counted(arrays_[set.first].array.rows(), "row"));
    }
    fail(ErrorKind::kUsage,
         "'{}' holds several sets of samples, since its arrays {}: {}; {}choose one by the name of "
         "its images (--image-field {})",
         source_.name(), have_one_length_ ? "of images have labels of their own" : "have different lengths", listed,
         images.empty() ? "" : fmt::format("none has '{}'; ", images), arrays_[sets.front().first].name);
  }

  /// The array of class numbers is no field: of the usual name, else of one as the images' ("y_train" of "x_train").
  void take_labels() {
    if (arrays_.size() < 2) return;
    auto found = std::find_if(arrays_.begin(), arrays_.end(), has_usual_labels);
    if (found == arrays_.end() && is_one_of_several_) {
      const auto words = npy_set_words(arrays_[first_].name);
      found = std::find_if(arrays_.begin(), arrays_.end(), [&](const NamedArray& one) {
        return &one != &arrays_[first_] && has_labels(one) && npy_set_words(one.name) == words;
      });
    }
    if (found == arrays_.end()) return;
    labels_ = std::move(*found);
    arrays_.erase(found);
  }

  void place_rows() {
    bool has_image = false;
    for (NamedArray& one : arrays_) {
      const bool is_image = one.array.has_images() && !std::exchange(has_image, true);
      // One of several sets was chosen by the images' name, under which they are looked for.
      assign_lower_case(one.field, is_image && !is_one_of_several_ ? "npy" : one.name + ".npy");
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
  std::uint64_t rows_ = 0, next_ = 0;
  ShardNotes notes_;
  bool have_one_length_ = false, is_one_of_several_ = false;
  std::size_t first_ = 0;  // which array has the images of the set, before its labels are taken
};

}  // namespace

bool NpyFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  return shard.name().ends_with(".npy") || shard.name().ends_with(".npz") ||
         as_text(shard.head()).starts_with("\x93NUMPY");
}

std::unique_ptr<ShardScan> NpyFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<NpyScan>(shard, "", stop);
}

std::unique_ptr<ShardScan> NpyFormat::scan_set(Source& shard, std::string_view images,
                                               const std::stop_token& stop) const {
  return std::make_unique<NpyScan>(shard, images, stop);
}

}  // namespace stoker
