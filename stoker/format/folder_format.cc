#include "stoker/format/folder_format.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/directory_listing.h"
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
    root_fd_ = open_folder(AT_FDCWD, root_.c_str());
    ancestors_.push_back(identity(root_fd_));
    const DirectoryListing top(root_fd_, root_);
    name_classes(top);
    if (contents_.classes.empty()) {
      add_samples(root_fd_, top, -1);
      class_numbers_.warn(root_);
      return;
    }
    std::vector<bool> has_image(contents_.classes.size());
    for (std::size_t i = 0; i < top.size(); ++i) {
      if (!top[i].is_folder) continue;
      const auto& classes = contents_.classes;
      const auto label = std::lower_bound(classes.begin(), classes.end(), top[i].name) - classes.begin();
      const std::int64_t before = contents_.samples.size();
      enter(top[i].name, label);
      has_image[static_cast<std::size_t>(label)] = contents_.samples.size() > before;
    }
    require_images(has_image);
  }

 private:
  using Identity = std::pair<dev_t, ino_t>;

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
    fail(ErrorKind::kData,
         "the class folder '{}/{}' holds no image ({}); every folder directly in '{}' is a class, so fill it or move "
         "it away",
         root_, contents_.classes[static_cast<std::size_t>(empty - has_image.begin())], kImageExtensions, root_);
  }

  /// Adds the samples of the folder `name` inside the one the walk stands in (`path_`), and of all folders below it.
  void enter(std::string_view name, std::int64_t label) {
    const std::size_t above = path_.size();
    path_ += name;
    const FileDescriptor folder = open_folder(root_fd_.get(), path_.c_str());
    const Identity self = identity(folder);
    if (std::find(ancestors_.begin(), ancestors_.end(), self) == ancestors_.end()) {
      ancestors_.push_back(self);
      const DirectoryListing listing(folder, full_path());
      path_ += '/';
      add_samples(folder, listing, label);
      ancestors_.pop_back();
    }
    path_.resize(above);
  }

  void add_samples(const FileDescriptor& folder, const DirectoryListing& listing, std::int64_t label) {
    for (std::size_t i = 0; i < listing.size();) {
      stop_if_asked(stop_, root_);
      if (listing[i].is_folder) {
        enter(listing[i++].name, label);
        continue;
      }
      const auto first = split_member_name(listing[i].name);
      std::size_t end = i + 1;
      while (first && end < listing.size() && !listing[end].is_folder && has_key(listing[end].name, first->key)) ++end;
      if (first && has_image(listing, i, end)) add_sample(folder, listing, i, end, first->key, label);
      i = end;
    }
  }

  /// Entries [begin, end) of the listing are the files of one sample.
  void add_sample(const FileDescriptor& folder, const DirectoryListing& listing, std::size_t begin, std::size_t end,
                  std::string_view key, std::int64_t label) {
    const std::size_t above = path_.size();
    path_ += key;
    contents_.samples.add_sample(path_, label);
    names_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view name = listing[i].name;
      path_.resize(above);
      path_ += name;
      struct stat facts;
      if (::fstatat(folder.get(), path_.c_str() + above, &facts, 0) != 0) {
        fail_system("look at", full_path(), errno);
      }
      if (!S_ISREG(facts.st_mode)) require_regular_file(full_path(), facts.st_mode, ErrorKind::kData);
      assign_lower_case(field_, name.substr(key.size() + 1));
      if (std::find(names_.begin(), names_.end(), field_) != names_.end()) {
        fail(ErrorKind::kData,
             "'{}': its sample has the field '{}' twice, in upper and lower case; rename or remove one", full_path(),
             field_);
      }
      names_.push_back(field_);
      if (field_ == "cls" && label < 0) {
        const std::uint64_t length = static_cast<std::uint64_t>(facts.st_size);
        contents_.samples.set_label(contents_.samples.size() - 1, read_label(folder, length, above));
      }
      contents_.samples.add_field(field_, path_, 0, static_cast<std::uint64_t>(facts.st_size));
    }
    path_.resize(above);
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

  /// Whether there is an image among the files [begin, end) of one sample. Beside the sample's own image ("x.jpg")
  /// others may lie that say what they are ("x.mask.png").
  bool has_image(const DirectoryListing& listing, std::size_t begin, std::size_t end) const {
    std::vector<std::string_view> own, named;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view name = listing[i].name, field = split_member_name(name)->field;
      if (is_image_field_name(field)) (field.find('.') == std::string_view::npos ? own : named).push_back(name);
    }
    if (own.size() > 1) {
      fail(ErrorKind::kData,
           "'{0}/{1}{2}' and '{0}/{1}{3}' would be one sample, since only their extensions differ; rename one of them",
           root_, path_, own[0], own[1]);
    }
    if (own.empty() && named.size() > 1) {
      fail(ErrorKind::kData,
           "'{0}/{1}{2}' and '{0}/{1}{3}' are both images of the sample '{1}{4}', whose name ends at the first dot; "
           "rename them so that the only dot is the one before the extension",
           root_, path_, named[0], named[1], split_member_name(named[0])->key);
    }
    return !own.empty() || !named.empty();
  }

  static bool has_key(std::string_view name, std::string_view key) {
    const auto split = split_member_name(name);
    return split && split->key == key;
  }

  FileDescriptor open_folder(int parent, const char* path) const {
    FileDescriptor folder(::openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    if (!folder) fail_system("open the folder", parent == AT_FDCWD ? root_ : full_path(), errno);
    return folder;
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
