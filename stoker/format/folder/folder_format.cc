#include "stoker/format/folder/folder_format.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/folder/directory_listing.h"
#include "stoker/format/folder/loose_samples.h"
#include "stoker/format/folder/passed_over.h"
#include "stoker/format/member_name.h"
#include "stoker/storage/folder_source.h"

namespace stoker {
namespace {

/// Walks a folder and adds its samples to a table. One walk at a time.
class FolderWalk {
 public:
  FolderWalk(const std::string& root, ShardContents& contents, const std::stop_token& stop)
      : root_(root), contents_(contents), stop_(stop) {}

  void run() {
    root_fd_ = try_open_folder(AT_FDCWD, root_.c_str());
    if (!root_fd_) fail_system("open the folder", root_, errno);
    ancestors_.push_back(identity(root_fd_));
    const DirectoryListing top(root_fd_, root_);
    name_classes(top);
    if (contents_.classes.empty()) {
      add_samples(root_fd_, top, -1);
      class_numbers_.warn(root_);
    } else {
      add_classes(top);
    }
    contents_.problems = passed_over_.sentences(root_);
  }

 private:
  using Identity = std::pair<dev_t, ino_t>;

  void add_classes(const DirectoryListing& top) {
    std::vector<bool> has_image(contents_.classes.size());
    for (std::size_t i = 0; i < top.size(); ++i) {
      if (!top[i].is_folder) {
        pass_over_in_root(top[i]);
        continue;
      }
      const auto& classes = contents_.classes;
      const auto label = std::lower_bound(classes.begin(), classes.end(), top[i].name) - classes.begin();
      const std::int64_t before = contents_.samples.size();
      enter(top[i].name, label);
      has_image[static_cast<std::size_t>(label)] = contents_.samples.size() > before;
    }
    require_images(has_image);
  }

  void pass_over_in_root(const DirectoryListing::Entry& entry) {
    if (entry.is_broken_link) return passed_over_.add("broken link", entry.name);
    const auto split = split_member_name(entry.name);
    if (split && is_image_field_name(split->field)) return passed_over_.add("classless image", entry.name);
    passed_over_.add_if_picture(entry.name);
  }

  void name_classes(const DirectoryListing& top) {
    for (std::size_t i = 0; i < top.size(); ++i) {
      if (top[i].is_folder) contents_.classes.emplace_back(top[i].name);
    }
    // A listing's order is that of keys, where "a-b/" comes before "a/"; classes are numbered by their bare names.
    std::sort(contents_.classes.begin(), contents_.classes.end());
  }

  void require_images(const std::vector<bool>& has_image) const {
    const auto empty = std::find(has_image.begin(), has_image.end(), false);
    if (empty == has_image.end()) return;
    std::string why;
    for (const std::string& sentence : passed_over_.sentences(root_)) why += "; " + sentence;
    fail(ErrorKind::kData,
         "the class folder '{}/{}' holds no image ({}); every folder directly in '{}' is a class, so fill it or move "
         "it away{}",
         root_, contents_.classes[static_cast<std::size_t>(empty - has_image.begin())], kImageExtensions, root_, why);
  }

  /// Adds the samples of the folder `name` inside the one the walk stands in (`path_`), and of all folders below it.
  void enter(std::string_view name, std::int64_t label) {
    const std::size_t above = path_.size();
    path_ += name;
    enter_here(label);
    path_.resize(above);
  }

  void enter_here(std::int64_t label) {
    if (is_too_long()) return;
    const FileDescriptor folder = try_open_folder(root_fd_.get(), path_.c_str());
    if (!folder && errno == EACCES) return passed_over_.add("unreadable folder", path_);
    if (!folder) fail_system("open the folder", full_path(), errno);
    const Identity self = identity(folder);
    if (std::find(ancestors_.begin(), ancestors_.end(), self) != ancestors_.end()) return;
    ancestors_.push_back(self);
    const DirectoryListing listing(folder, full_path());
    path_ += '/';
    add_samples(folder, listing, label);
    ancestors_.pop_back();
  }

  /// `label`: -1 in a folder without classes, where images may be fields of others.
  void add_samples(const FileDescriptor& folder, const DirectoryListing& listing, std::int64_t label) {
    LooseSamples samples(label < 0);
    for (std::size_t i = 0; i < listing.size(); ++i) {
      stop_if_asked(stop_, root_);
      const DirectoryListing::Entry entry = listing[i];
      if (entry.is_folder) {
        samples.add_folder(entry.name);
      } else if (entry.is_broken_link) {
        passed_over_.add("broken link", path_ + std::string(entry.name));
      } else if (const auto split = split_member_name(entry.name)) {
        LooseSamples::File file{.name = entry.name, .is_image = is_image_field_name(split->field)};
        // In a class folder ImageFolder has a sample of it, also where it is a field of one here.
        if (!file.is_image && label >= 0) passed_over_.add_if_picture(path_ + std::string(entry.name));
        if (!file.is_image || find_length(folder, file)) samples.add_file(file);
      }
    }
    samples.finish();
    for (const LooseSamples::Item& item : samples.items()) {
      if (item.is_folder) {
        enter(item.name, label);
      } else {
        add_sample(folder, samples, item, label);
      }
    }
    if (label >= 0) return;
    for (const LooseSamples::File& file : samples.others()) {
      passed_over_.add_if_picture(path_ + std::string(file.name));
    }
  }

  /// Whether a file of the folder can be read; what cannot is passed over.
  bool find_length(const FileDescriptor& folder, LooseSamples::File& file) {
    const std::size_t above = path_.size();
    path_ += file.name;
    const bool is_good = !is_too_long() && find_length_here(folder, path_.c_str() + above, file);
    path_.resize(above);
    return is_good;
  }

  bool find_length_here(const FileDescriptor& folder, const char* name, LooseSamples::File& file) {
    struct stat facts;
    if (::fstatat(folder.get(), name, &facts, 0) != 0) {
      if (errno != EACCES) fail_system("look at", full_path(), errno);
      passed_over_.add("unreadable file", path_);
      return false;
    }
    if (!S_ISREG(facts.st_mode)) {
      const std::string_view kind = kind_of_file(facts.st_mode);  // "a pipe"
      passed_over_.add(kind.substr(kind.find(' ') + 1), path_);
      return false;
    }
    // Most files can be read by everybody, and need not be opened to find that out.
    constexpr mode_t kByAll = S_IRUSR | S_IRGRP | S_IROTH;
    if ((facts.st_mode & kByAll) != kByAll && !open_for_reading(folder.get(), name)) {
      if (errno != EACCES && errno != EPERM) fail_system("open", full_path(), errno);
      passed_over_.add("unreadable file", path_);
      return false;
    }
    file.length = static_cast<std::uint64_t>(facts.st_size);
    return true;
  }

  /// Whether the path is longer than the system opens; then it is passed over.
  bool is_too_long() {
    if (path_.size() < PATH_MAX) return false;
    passed_over_.add("overlong path", path_.substr(0, 100) + "...");
    return true;
  }

  void add_sample(const FileDescriptor& folder, const LooseSamples& samples, const LooseSamples::Item& item,
                  std::int64_t label) {
    const std::size_t above = path_.size();
    path_ += item.name;
    if (item.is_apart) path_ += kKeyBelowName;
    contents_.samples.add_sample(path_, label);
    path_.resize(above);
    names_.clear();
    for (std::uint32_t i = item.begin; i < item.end; ++i) {
      LooseSamples::File file = samples.member(i);
      if (!file.is_image && !find_length(folder, file)) continue;
      path_ += file.name;
      assign_lower_case(field_, samples.field_of(item, i));
      if (std::find(names_.begin(), names_.end(), field_) != names_.end()) {
        passed_over_.add("second file of one field", path_);
      } else {
        add_field(folder, file, above, label);
      }
      path_.resize(above);
    }
  }

  /// The file at `path_`, whose name begins at `name`.
  void add_field(const FileDescriptor& folder, const LooseSamples::File& file, std::size_t name, std::int64_t label) {
    names_.push_back(field_);
    if (field_ == "cls" && label < 0) {
      contents_.samples.set_label(contents_.samples.size() - 1, read_label(folder, file.length, name));
    }
    contents_.samples.add_field(field_, path_, 0, file.length);
  }

  /// Of the file at `path_`, whose name begins at `name`: a folder without classes knows them as a tar does.
  std::int64_t read_label(const FileDescriptor& folder, std::uint64_t length, std::size_t name) {
    std::array<std::uint8_t, kClassNumberBytesMax> bytes;
    const FileDescriptor file = open_for_reading(folder.get(), path_.c_str() + name);
    if (!file) fail_system("open", full_path(), errno);
    const MutableBytes wanted = MutableBytes(bytes).first(std::min<std::uint64_t>(length, bytes.size()));
    const PreadResult read = pread_fully(file.get(), 0, wanted);
    if (read.error != 0) fail_system("read", full_path(), read.error);
    const std::string_view key = split_member_name(path_)->key;
    return class_numbers_.label_of(as_text(Bytes(bytes).first(read.count)), length, key);
  }

  static FileDescriptor try_open_folder(int parent, const char* path) {
    return FileDescriptor(::openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
  }

  Identity identity(const FileDescriptor& folder) const {
    struct stat facts;
    if (::fstat(folder.get(), &facts) != 0) fail_system("look at", full_path(), errno);
    return {facts.st_dev, facts.st_ino};
  }

  std::string full_path() const { return root_ + "/" + path_; }

  const std::string& root_;
  ShardContents& contents_;
  const std::stop_token& stop_;
  FileDescriptor root_fd_;
  std::string path_;                 // where the walk stands, relative to the root, with a slash at its end
  std::vector<Identity> ancestors_;  // the folders the walk is inside of
  ClassNumbers class_numbers_;
  PassedOver passed_over_;
  std::string field_;               // scratch
  std::vector<std::string> names_;  // of the fields of the sample at hand
};

}  // namespace

bool FolderFormat::recognises(const std::string& path) const {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

ShardContents FolderFormat::scan(const std::string& path, const FileAccess& access, const std::stop_token& stop) const {
  ShardContents contents;
  contents.source = std::make_shared<FolderSource>(path, access.executor);
  FolderWalk(path, contents, stop).run();
  return contents;
}

}  // namespace stoker
