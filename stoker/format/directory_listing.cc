#include "stoker/format/directory_listing.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace stoker {
namespace {

bool is_folder(int folder, const dirent& entry) {
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts;
  return ::fstatat(folder, entry.d_name, &facts, 0) == 0 && S_ISDIR(facts.st_mode);
}

/// Keys compare as bytes, and a folder's name is followed by '/' in every key below it; a file's ends at its first dot.
/// Neither can be a prefix of the other with the slash included, so comparing these orders the keys themselves.
bool key_less(DirectoryListing::Entry a, DirectoryListing::Entry b) {
  const auto stem = [](DirectoryListing::Entry entry) {
    return entry.is_folder ? entry.name : entry.name.substr(0, entry.name.find('.'));
  };
  const std::string_view a_stem = stem(a), b_stem = stem(b);
  const std::size_t common = std::min(a_stem.size(), b_stem.size());
  if (const int order = a_stem.substr(0, common).compare(b_stem.substr(0, common)); order != 0) return order < 0;
  // What follows the common bytes: -1 the key's end, '/' a folder's, else a character of the name.
  const auto next = [common](std::string_view text, bool folder) {
    if (common < text.size()) return static_cast<int>(static_cast<unsigned char>(text[common]));
    return folder ? static_cast<int>('/') : -1;
  };
  const int a_next = next(a_stem, a.is_folder), b_next = next(b_stem, b.is_folder);
  if (a_next != b_next) return a_next < b_next;
  return a.name < b.name;  // files of one sample
}

}  // namespace

DirectoryListing::DirectoryListing(const FileDescriptor& folder, const std::string& path) {
  FileDescriptor own(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
  std::unique_ptr<DIR, int (*)(DIR*)> directory(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!directory) fail_system("list the folder", path, errno);
  own.release();

  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) fail_system("list the folder", path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name.starts_with('.')) continue;
    entries_.push_back({text_.size(), static_cast<std::uint32_t>(name.size()), is_folder(folder.get(), *entry)});
    text_ += name;
  }
  const auto entry_of = [this](const Row& row) {
    return Entry{std::string_view(text_).substr(row.begin, row.length), row.is_folder};
  };
  std::sort(entries_.begin(), entries_.end(),
            [&](const Row& a, const Row& b) { return key_less(entry_of(a), entry_of(b)); });
}

}  // namespace stoker
