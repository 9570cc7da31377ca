#include "stoker/pack/synth/created_paths.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "stoker/base/error.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

namespace fs = std::filesystem;

CreatedPaths::~CreatedPaths() {
  for (const char* path = files_.c_str(); *path != '\0'; path += std::strlen(path) + 1) ::unlink(path);
  std::reverse(folders_.begin(), folders_.end());
  for (const std::string& folder : folders_) ::rmdir(folder.c_str());
}

void CreatedPaths::add_file(const std::string& path) {
  const std::lock_guard lock(mutex_);
  files_.append(path).push_back('\0');
}

void CreatedPaths::keep() {
  files_.clear();
  folders_.clear();
}

void CreatedPaths::create_folder(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path() && !fs::exists(path.parent_path(), error)) create_folder(path.parent_path());
  if (fs::create_directory(path, error)) folders_.push_back(path.string());
  if (error) fail_system("create", path.string(), error.value());
}

void CreatedPaths::claim_empty_folder(const std::string& out) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  if (!fs::exists(status)) {
    create_folder(out);
    return;
  }
  if (!fs::is_directory(status)) fail(ErrorKind::kUsage, "'{}' exists and is not a folder; choose another name", out);
  const bool empty = fs::is_empty(out, error);
  if (error) fail_system("read folder", out, error.value());
  if (!empty) fail(ErrorKind::kUsage, "folder '{}' is not empty; choose another name, or remove its contents", out);
}

}  // namespace stoker
