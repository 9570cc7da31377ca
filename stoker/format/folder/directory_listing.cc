#include "stoker/format/folder/directory_listing.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace stoker {
namespace {

/// A folder's name is followed by '/' in every key below it; a file's key ends at its first dot.
bool key_less(DirectoryListing::Entry a, DirectoryListing::Entry b) {
  const auto stem = [](DirectoryListing::Entry entry) {
    return entry.is_folder ? entry.name : entry.name.substr(0, entry.name.find('.'));
  };
  const int order = compare_keys(stem(a), a.is_folder, stem(b), b.is_folder);
  return order != 0 ? order < 0 : a.name < b.name;  // files of one sample
}

}  // namespace

// Neither can be a prefix of the other with the slash included, so comparing these orders the keys themselves.
int compare_keys(std::string_view a, bool slash_after_a, std::string_view b, bool slash_after_b) {
  const std::size_t common = std::min(a.size(), b.size());
  if (const int order = a.substr(0, common).compare(b.substr(0, common)); order != 0) return order;
  // What follows the common bytes: -1 the key's end, '/' a folder's, else a character of the name.
  const auto next = [common](std::string_view text, bool slash) {
    if (common < text.size()) return static_cast<int>(static_cast<unsigned char>(text[common]));
    return slash ? static_cast<int>('/') : -1;
  };
  return next(a, slash_after_a) - next(b, slash_after_b);
}

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
    Row row{text_.size(), static_cast<std::uint32_t>(name.size()), entry->d_type == DT_DIR, false};
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      struct stat facts;
      const bool is_there = ::fstatat(folder.get(), entry->d_name, &facts, 0) == 0;
      row.is_folder = is_there && S_ISDIR(facts.st_mode);
      row.is_broken_link = !is_there && (errno == ENOENT || errno == ELOOP);
    }
    entries_.push_back(row);
    text_ += name;
  }
  const auto entry_of = [this](const Row& row) {
    return Entry{std::string_view(text_).substr(row.begin, row.length), row.is_folder, row.is_broken_link};
  };
  std::sort(entries_.begin(), entries_.end(),
            [&](const Row& a, const Row& b) { return key_less(entry_of(a), entry_of(b)); });
}

}  // namespace stoker
