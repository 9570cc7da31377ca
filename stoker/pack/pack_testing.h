// Small data sets for the tests of jobs over data sets.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stoker/codec/encoded_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/pack/synth.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {

/// Every file below a folder, by its relative path.
inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), folder).string()] = read_file(entry.path().string());
  }
  return files;
}

/// A folder of `count` tiny images (PNG, 32 x 32) in `classes` classes.
inline std::string tiny_folder(const TempFolder& folder, std::int64_t count, std::int64_t classes,
                               const std::string& name = "loose") {
  synthesize(folder.path(name), {.kind = SynthKind::kTiny, .count = count, .classes = classes, .threads = 1});
  return folder.path(name);
}

}  // namespace stoker
