#include "stoker/format/folder/folder_format.h"

#include <algorithm>
#include <array>
#include <climits>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/folder/loose_samples.h"
#include "stoker/format/folder/passed_over.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// Walks a folder, depth first.
class FolderScan final : public ShardScan {
 public:
  FolderScan(Source& source, std::stop_token stop) : source_(source), root_(source.name()), stop_(std::move(stop)) {
    top_ = list({});
    if (!top_) fail(ErrorKind::kIo, "cannot open the folder '{}': no permission to read it", root_);
    for (std::size_t i = 0; i < top_->size(); ++i) {
      if ((*top_)[i].is_folder) notes_.classes.emplace_back((*top_)[i].name);
    }
    // A listing's order is that of keys, where "a-b/" comes before "a/"; classes are numbered by their bare names.
    std::sort(notes_.classes.begin(), notes_.classes.end());
    has_image_.resize(notes_.classes.size());
    if (notes_.classes.empty()) begin_folder(std::move(top_));
  }

  bool next(SampleRow& row) override {
    row.clear();
    row.source = &source_;
    for (;;) {
      if (inside_.empty()) {
        if (!enter_next_class()) return false;
        continue;
      }
      Inside& here = inside_.back();
      path_.resize(here.path_bytes);
      if (here.next == here.samples.items().size()) {
        leave();
        continue;
      }
      const LooseSamples::Item& item = here.samples.items()[here.next++];
      if (item.is_folder) {
        enter(item.name);
        continue;
      }
      take_sample(here, item, row);
      if (label_ >= 0) has_image_[static_cast<std::size_t>(label_)] = true;
      return true;
    }
  }

  ShardNotes take_notes() override {
    notes_.problems = passed_over_.sentences(root_);
    return std::move(notes_);
  }

 private:
  /// A folder that the walk is inside of.
  struct Inside {
    std::unique_ptr<Folder> folder;
    LooseSamples samples;
    std::size_t path_bytes;  // of its path, with the slash at its end
    std::size_t next = 0;    // of the samples' items
  };

  std::unique_ptr<Folder> list(std::string_view part) const {
    std::unique_ptr<Folder> folder = source_.list(part);
    if (!folder) return nullptr;
    folder->drop_hidden();
    folder->sort(key_less);
    return folder;
  }

  /// Goes on with the folders directly in the root; false after the last.
  bool enter_next_class() {
    path_.clear();
    if (ended_) return false;
    const bool has_classes = !notes_.classes.empty();
    while (has_classes && top_next_ < top_->size()) {
      const Folder::Entry entry = (*top_)[top_next_++];
      if (!entry.is_folder) {
        pass_over_in_root(entry);
        continue;
      }
      const auto& classes = notes_.classes;
      label_ = std::lower_bound(classes.begin(), classes.end(), entry.name) - classes.begin();
      enter(entry.name);
      return true;
    }
    ended_ = true;
    if (has_classes)
      require_images();
    else
      class_numbers_.warn(root_);
    return false;
  }

  void pass_over_in_root(const Folder::Entry& entry) {
    if (entry.is_broken_link) return passed_over_.add("broken link", entry.name);
    const auto split = split_member_name(entry.name);
    if (split && is_image_field_name(split->field)) return passed_over_.add("classless image", entry.name);
    passed_over_.add_if_picture(entry.name);
  }

  void require_images() const {
    const auto empty = std::find(has_image_.begin(), has_image_.end(), false);
    if (empty == has_image_.end()) return;
    const std::string& name = notes_.classes[static_cast<std::size_t>(empty - has_image_.begin())];
    if (const std::string shard = shard_in(name); !shard.empty()) {
      fail(ErrorKind::kData, "the folder '{}/{}' contains shards, such as '{}', and no image: give '{}/{}' for them",
           root_, name, shard, root_, name);
    }
    std::string why;
    for (const std::string& sentence : passed_over_.sentences(root_)) why += "; " + sentence;
    fail(ErrorKind::kData,
         "the class folder '{}/{}' contains no image ({}); every folder directly in '{}' is a class, so fill it or "
         "move it away, or list files of other kinds in a CSV with the heading path,label{}",
         root_, name, kImageExtensions, root_, why);
  }

  /// The name of one that lies directly in the folder; empty if none does.
  std::string shard_in(const std::string& folder_name) const {
    const std::unique_ptr<Folder> folder = list(folder_name);
    for (std::size_t i = 0; folder && i < folder->size(); ++i) {
      const Folder::Entry entry = (*folder)[i];
      if (!entry.is_folder && is_shard_name(entry.name)) return std::string(entry.name);
    }
    return {};
  }

  /// Enters the folder `name` inside the one the walk stands in (`path_`), unless it contains itself.
  void enter(std::string_view name) {
    path_ += name;
    if (is_too_long()) return;
    std::unique_ptr<Folder> folder = list(path_);
    if (!folder) return passed_over_.add("unreadable folder", path_);
    const auto is_it = [&](const Folder& other) { return other.identity() == folder->identity(); };
    if (is_it(*top_)) return;
    if (std::any_of(inside_.begin(), inside_.end(), [&](const Inside& one) { return is_it(*one.folder); })) return;
    path_ += '/';
    begin_folder(std::move(folder));
  }

  void begin_folder(std::unique_ptr<Folder> folder) {
    // Without classes, images may be fields of others.
    LooseSamples samples(label_ < 0);
    for (std::size_t i = 0; i < folder->size(); ++i) {
      stop_if_asked(stop_, root_);
      const Folder::Entry entry = (*folder)[i];
      if (entry.is_folder) {
        samples.add_folder(entry.name);
      } else if (entry.is_broken_link) {
        passed_over_.add("broken link", path_ + std::string(entry.name));
      } else if (const auto split = split_member_name(entry.name)) {
        LooseSamples::File file{.name = entry.name, .is_image = is_image_field_name(split->field)};
        // In a class folder ImageFolder has a sample of it, also where it is a field of one here.
        if (!file.is_image && label_ >= 0) passed_over_.add_if_picture(path_ + std::string(entry.name));
        if (!file.is_image || find_length(*folder, file)) samples.add_file(file);
      }
    }
    samples.finish();
    inside_.push_back({std::move(folder), std::move(samples), path_.size()});
  }

  void leave() {
    if (label_ < 0) {
      for (const LooseSamples::File& file : inside_.back().samples.others()) {
        passed_over_.add_if_picture(path_ + std::string(file.name));
      }
    }
    inside_.pop_back();
  }

  /// Whether a file of the folder can be read; what cannot is passed over.
  bool find_length(const Folder& folder, LooseSamples::File& file) {
    const std::size_t above = path_.size();
    path_ += file.name;
    bool is_good = !is_too_long();
    if (is_good) {
      const Folder::File found = folder.look_at(file.name);
      file.length = found.length;
      is_good = found.fault.empty();
      if (!is_good) passed_over_.add(found.fault, path_);
    }
    path_.resize(above);
    return is_good;
  }

  /// Whether the path is longer than the system opens; then it is passed over.
  bool is_too_long() {
    if (path_.size() < PATH_MAX) return false;
    passed_over_.add("overlong path", path_.substr(0, 100) + "...");
    return true;
  }

  void take_sample(const Inside& here, const LooseSamples::Item& item, SampleRow& row) {
    row.key.assign(path_).append(item.name);
    if (item.is_apart) row.key += kKeyBelowName;
    row.label = label_;
    parts_.clear();
    part_bytes_.clear();
    for (std::uint32_t i = item.begin; i < item.end; ++i) {
      LooseSamples::File file = here.samples.member(i);
      if (!file.is_image && !find_length(*here.folder, file)) continue;
      assign_lower_case(field_, here.samples.field_of(item, i));
      if (row.field(field_)) {
        passed_over_.add("second file of the same field", path_ + std::string(file.name));
        continue;
      }
      if (field_ == "cls" && label_ < 0) row.label = read_label(*here.folder, file);
      row.fields.push_back({.name = *names_.insert(field_).first, .part = {}, .offset = 0, .length = file.length});
      parts_.append(path_).append(file.name);
      part_bytes_.push_back(path_.size() + file.name.size());
    }
    std::string_view rest = parts_;
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      row.fields[i].part = rest.substr(0, part_bytes_[i]);
      rest.remove_prefix(part_bytes_[i]);
    }
  }

  /// A folder without classes knows them as a tar does.
  std::int64_t read_label(const Folder& folder, const LooseSamples::File& file) {
    std::array<std::uint8_t, kClassNumberBytesMax> bytes;
    const MutableBytes wanted = MutableBytes(bytes).first(std::min<std::uint64_t>(file.length, bytes.size()));
    const std::string_view text = as_text(Bytes(bytes).first(folder.read(file.name, wanted)));
    return class_numbers_.label_of(text, file.length, split_member_name(path_ + std::string(file.name))->key);
  }

  Source& source_;
  const std::string& root_;  // its name
  const std::stop_token stop_;
  ShardNotes notes_;
  std::unique_ptr<Folder> top_;
  std::size_t top_next_ = 0;
  std::int64_t label_ = -1;      // of the class that the walk is in; -1 in a folder without classes
  std::vector<bool> has_image_;  // by label
  std::string path_;             // where the walk stands, relative to the root, with a slash at its end
  std::vector<Inside> inside_;   // the outermost first
  bool ended_ = false;
  ClassNumbers class_numbers_;
  PassedOver passed_over_;
  std::set<std::string, std::less<>> names_;  // of fields: rows have views of them
  std::string field_;                         // scratch
  std::string parts_;                         // of the sample at hand, back to back
  std::vector<std::size_t> part_bytes_;
};

}  // namespace

std::unique_ptr<ShardScan> FolderFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<FolderScan>(shard, stop);
}

}  // namespace stoker
