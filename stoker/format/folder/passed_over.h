// The files in a folder of images that do not belong to any sample although they may have been meant to: counted by
// kind, and the first of each kind named.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

class PassedOver {
 public:
  /// `kind`, in the singular: what `path`, relative to the folder, is ("broken link").
  void add(std::string_view kind, std::string_view path);
  /// If the path has the extension of a picture that Stoker does not read.
  void add_if_picture(std::string_view path);

  /// A sentence for each kind, in the order in which they were met.
  std::vector<std::string> sentences(const std::string& folder) const;

 private:
  struct Kind {
    std::string name;
    std::uint64_t count = 0;
    std::vector<std::string> first;  // paths
  };

  std::vector<Kind> kinds_;
};

}  // namespace stoker
