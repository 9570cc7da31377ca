// One folder's entries in the order in which the keys of the samples below them sort.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/storage/posix_file.h"

namespace stoker {

/// Keys compare as bytes. Of two whose paths are the same up to here: below 0 if the first, whose next component is
/// `a`, sorts first. That may be the key's end, or be followed by a slash.
int compare_keys(std::string_view a, bool slash_after_a, std::string_view b, bool slash_after_b);

class DirectoryListing {
 public:
  struct Entry {
    std::string_view name;  // a view of the listing's text
    bool is_folder;
    bool is_broken_link;  // leads nowhere, or in circles
  };

  /// Lists `folder`, whose path is `path` in messages; hidden entries are left out, links count as what they lead to.
  /// Throws kIo.
  DirectoryListing(const FileDescriptor& folder, const std::string& path);

  std::size_t size() const { return entries_.size(); }
  Entry operator[](std::size_t i) const {
    return {std::string_view(text_).substr(entries_[i].begin, entries_[i].length), entries_[i].is_folder,
            entries_[i].is_broken_link};
  }

 private:
  struct Row {
    std::uint64_t begin;
    std::uint32_t length;
    bool is_folder, is_broken_link;
  };

  std::string text_;
  std::vector<Row> entries_;
};

}  // namespace stoker
