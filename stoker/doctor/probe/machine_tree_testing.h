// The folders /proc and /sys of a machine that there is not.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/storage/temp_folder_testing.h"

namespace stoker {

class MachineTree {
 public:
  const std::string& root() const { return folder_.path(); }

  /// `path`: absolute, as on that machine.
  void write(const std::string& path, const std::string& text) const { folder_.write(path.substr(1), text); }
  void link(const std::string& from, const std::string& to) const {
    std::filesystem::create_directories(std::filesystem::path(root() + from).parent_path());
    std::filesystem::create_symlink(root() + to, root() + from);
  }

 private:
  TempFolder folder_;
};

}  // namespace stoker
