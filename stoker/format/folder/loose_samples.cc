#include "stoker/format/folder/loose_samples.h"

#include <algorithm>
#include <utility>

#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// Keys compare as bytes. Of two whose paths are the same up to here: below 0 if the first, whose next component is
/// `a`, sorts first. That may be the key's end, or be followed by a slash.
/// Neither can be a prefix of the other with the slash included, so comparing these orders the keys themselves.
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

std::string_view first_stem(std::string_view name) { return name.substr(0, name.find('.')); }
std::string_view last_stem(std::string_view name) { return name.substr(0, name.rfind('.')); }

/// "x.jpg", which nothing but its extension tells from the sample's name.
bool is_plain(std::string_view name) { return name.find('.') == name.rfind('.'); }

}  // namespace

/// A folder's name is followed by '/' in every key below it; a file's key ends at its first dot.
bool key_less(const Folder::Entry& a, const Folder::Entry& b) {
  const auto stem = [](const Folder::Entry& entry) { return entry.is_folder ? entry.name : first_stem(entry.name); };
  const int order = compare_keys(stem(a), a.is_folder, stem(b), b.is_folder);
  return order != 0 ? order < 0 : a.name < b.name;  // files of one sample
}

void LooseSamples::finish() {
  const auto count = static_cast<std::uint32_t>(files_.size());
  for (std::uint32_t begin = 0; begin < count;) {
    std::uint32_t end = begin + 1;
    while (end < count && first_stem(files_[end].name) == first_stem(files_[begin].name)) ++end;
    add_group(begin, end);
    begin = end;
  }
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return compare_keys(a.name, a.is_folder || a.is_apart, b.name, b.is_folder || b.is_apart) < 0;
  });
}

/// Files [begin, end) have the same name up to the first dot.
void LooseSamples::add_group(std::uint32_t begin, std::uint32_t end) {
  std::uint32_t images = 0, plain = 0, image = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!files_[i].is_image) continue;
    ++images;
    const bool is_plain_one = is_plain(files_[i].name);
    if (is_plain_one) ++plain;
    if (is_plain_one || images == 1) image = i;
  }
  if (images == 0) {
    others_.insert(others_.end(), files_.begin() + begin, files_.begin() + end);
    return;
  }
  if (images > 1 && !(one_with_masks_ && plain == 1)) return add_apart(begin, end);
  Item& item = items_.emplace_back();
  item.name = first_stem(files_[begin].name);
  item.image = image;
  item.begin = static_cast<std::uint32_t>(members_.size());
  for (std::uint32_t i = begin; i < end; ++i) members_.push_back(i);
  item.end = static_cast<std::uint32_t>(members_.size());
}

/// Each image with the files that are named after it: "x.1.json" is of "x.1.jpg", and of "x.1.png" if that is there,
/// too.
void LooseSamples::add_apart(std::uint32_t begin, std::uint32_t end) {
  using Stem = std::pair<std::string_view, std::uint32_t>;
  std::vector<Stem> stems;  // of images
  for (std::uint32_t i = begin; i < end; ++i) {
    if (files_[i].is_image) stems.emplace_back(last_stem(files_[i].name), i);
  }
  std::sort(stems.begin(), stems.end());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> owned;  // image, file
  for (std::uint32_t i = begin; i < end; ++i) {
    if (files_[i].is_image) {
      owned.emplace_back(i, i);
      continue;
    }
    const std::size_t owners = owned.size();
    for (std::string_view stem = last_stem(files_[i].name);; stem = last_stem(stem)) {
      auto found = std::lower_bound(stems.begin(), stems.end(), Stem(stem, 0));
      for (; found != stems.end() && found->first == stem; ++found) owned.emplace_back(found->second, i);
      if (owned.size() > owners || stem.find('.') == std::string_view::npos) break;
    }
    if (owned.size() == owners) others_.push_back(files_[i]);
  }
  std::sort(owned.begin(), owned.end());
  for (const auto& [image, file] : owned) {
    const bool is_first = items_.empty() || !items_.back().is_apart || items_.back().image != image;
    if (is_first) {
      const auto here = static_cast<std::uint32_t>(members_.size());
      items_.push_back({.name = files_[image].name,
                        .is_folder = false,
                        .is_apart = true,
                        .begin = here,
                        .end = here,
                        .image = image});
    }
    members_.push_back(file);
    ++items_.back().end;
  }
}

std::string_view LooseSamples::field_of(const Item& item, std::uint32_t i) const {
  const std::string_view name = member(i).name, of_image = last_stem(files_[item.image].name);
  const bool is_named_after_image =
      name.size() > of_image.size() && name.starts_with(of_image) && name[of_image.size()] == '.';
  return name.substr((is_named_after_image ? of_image : first_stem(name)).size() + 1);
}

}  // namespace stoker
