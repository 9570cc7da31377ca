// What a data set in the making has created so far, so that a failed one leaves nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

/// Files and folders that go away with their owner, last created first, unless they are kept.
class CreatedPaths {
 public:
  CreatedPaths() = default;
  ~CreatedPaths();
  CreatedPaths(const CreatedPaths&) = delete;
  CreatedPaths& operator=(const CreatedPaths&) = delete;

  void add(const std::string& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

  /// Creates a folder, with those above it. Throws what fail_system() throws.
  void create_folder(const std::filesystem::path& path);
  /// The same for a data set's own folder, which may be there if it is empty. Throws kUsage when the name is taken.
  void claim_empty_folder(const std::string& out);

 private:
  std::vector<std::string> paths_;
};

}  // namespace stoker
