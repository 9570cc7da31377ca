#include "stoker/format/folder/key_order.h"

#include <algorithm>

namespace stoker {

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

/// A folder's name is followed by '/' in every key below it; a file's key ends at its first dot.
bool key_less(const Folder::Entry& a, const Folder::Entry& b) {
  const auto stem = [](const Folder::Entry& entry) {
    return entry.is_folder ? entry.name : entry.name.substr(0, entry.name.find('.'));
  };
  const int order = compare_keys(stem(a), a.is_folder, stem(b), b.is_folder);
  return order != 0 ? order < 0 : a.name < b.name;  // files of one sample
}

}  // namespace stoker
