// A folder that lives as long as a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"

namespace stoker {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoker-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(std::string_view relative) const { return path_ + "/" + std::string(relative); }

  /// Writes a file, and the folders above it; returns its path.
  std::string write(std::string_view relative, std::string_view content) const {
    const std::filesystem::path file = path(relative);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.string();
  }
  std::string write(std::string_view relative, Bytes content) const { return write(relative, as_text(content)); }

 private:
  std::string path_;
};

}  // namespace stoker
