#include "stoker/storage/folder.h"

#include <algorithm>

namespace stoker {

Folder::Entry Folder::operator[](std::size_t i) const {
  const Row& row = rows_[i];
  return {std::string_view(text_).substr(row.begin, row.length), row.is_folder, row.is_link, row.is_broken_link};
}

void Folder::add(const Entry& entry) {
  rows_.push_back({text_.size(), static_cast<std::uint32_t>(entry.name.size()), entry.is_folder, entry.is_link,
                   entry.is_broken_link});
  text_ += entry.name;
  text_ += '\0';
}

void Folder::drop_hidden() {
  std::erase_if(rows_, [this](const Row& row) { return row.length > 0 && text_[row.begin] == '.'; });
}

void Folder::sort(bool (*less)(const Entry& a, const Entry& b)) {
  const auto entry_of = [this](const Row& row) {
    return Entry{std::string_view(text_).substr(row.begin, row.length), row.is_folder, row.is_link, row.is_broken_link};
  };
  std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) { return less(entry_of(a), entry_of(b)); });
}

}  // namespace stoker
