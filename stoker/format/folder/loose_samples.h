// Groups the files of a folder into samples, and gives them keys.
//
// Files whose names are the same up to the first dot are one sample, as in a tar: "x.jpg", "x.json", "x.cls". If that
// would put several images into one sample, each image is a separate sample, as in torchvision's ImageFolder; its key
// is its whole name followed by kKeyBelowName.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/storage/folder.h"

namespace stoker {

/// Entries of a folder, in the order in which the keys of the samples below them sort.
bool key_less(const Folder::Entry& a, const Folder::Entry& b);

class LooseSamples {
 public:
  struct File {
    std::string_view name;
    bool is_image = false;
    std::uint64_t length = 0;  // of an image
  };
  /// A folder, or a sample.
  struct Item {
    std::string_view name;  // the key's last component, or that of what is above kKeyBelowName
    bool is_folder = false;
    bool is_apart = false;             // kKeyBelowName follows the name
    std::uint32_t begin = 0, end = 0;  // of its files, in members()
    std::uint32_t image = 0;           // the file that is its image
  };

  /// `one_with_masks`: whether images named after another, "x.mask.png" beside "x.jpg", are fields of its sample.
  explicit LooseSamples(bool one_with_masks) : one_with_masks_(one_with_masks) {}

  /// In the order of key_less(); the names outlive this. Files have names that split_member_name() splits.
  void add_folder(std::string_view name) { items_.push_back({.name = name, .is_folder = true}); }
  void add_file(const File& file) { files_.push_back(file); }
  /// To be called once, after the last.
  void finish();

  /// In byte order of the keys.
  const std::vector<Item>& items() const { return items_; }
  const File& member(std::uint32_t i) const { return files_[members_[i]]; }
  /// What a member is called in its sample: "jpg" of "x.jpg", and of "x.1.jpg" where that is the sample's image.
  std::string_view field_of(const Item& item, std::uint32_t i) const;
  /// Files of no sample.
  const std::vector<File>& others() const { return others_; }

 private:
  void add_group(std::uint32_t begin, std::uint32_t end);
  void add_apart(std::uint32_t begin, std::uint32_t end);

  bool one_with_masks_;
  std::vector<File> files_, others_;
  std::vector<std::uint32_t> members_;  // of all items
  std::vector<Item> items_;
};

}  // namespace stoker
