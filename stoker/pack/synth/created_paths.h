// What a data set in the making has created so far, so that a failed one leaves nothing.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace stoker {

/// Files and folders that go away with their owner, unless they are kept. What others have put into a folder stays, and
/// so does that folder. Threads: any number may add files.
class CreatedPaths {
 public:
  CreatedPaths() = default;
  ~CreatedPaths();
  CreatedPaths(const CreatedPaths&) = delete;
  CreatedPaths& operator=(const CreatedPaths&) = delete;

  /// Of a file that was created just now, or is about to be.
  void add_file(const std::string& path);
  void keep();

  /// Creates a folder, with those above it. Throws what fail_system() throws.
  void create_folder(const std::filesystem::path& path);
  /// The same for a data set's own folder, which may be there if it is empty. Throws kUsage when the name is taken.
  void claim_empty_folder(const std::string& out);

 private:
  std::mutex mutex_;                  // over files_
  std::string files_;                 // a NUL follows each path: there may be millions
  std::vector<std::string> folders_;  // each after the one that it lies in
};

}  // namespace stoker
