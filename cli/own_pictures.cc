#include "cli/own_pictures.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/runtime/samples/sample_reader.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

// The first pictures of this seed are colourful, have edges and areas of even colour, and differ from each other.
constexpr std::uint64_t kSeedOfPictures = 23;

std::string make_temporary_folder() {
  std::error_code error;
  const std::filesystem::path above = std::filesystem::temp_directory_path(error);
  if (error) fail(ErrorKind::kIo, "there is no folder for temporary files: set TMPDIR to one, or name data to draw on");
  std::string pattern = (above / "stoker-pictures-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    fail(ErrorKind::kIo, "cannot create the folder {}: {}", pattern, std::strerror(errno));
  return pattern;
}

// Amid each picture is one, as COCO's annotations have it: operators may look at it.
constexpr std::string_view kObject = R"([{"bbox": [130, 90, 140, 130], "category_id": 1}])";

void write_objects(const std::string& folder) {
  std::vector<std::filesystem::path> pictures;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) pictures.push_back(entry.path());
  }
  for (std::filesystem::path& picture : pictures) {
    write_whole_file(picture.replace_extension(".json").string(), as_bytes(kObject));
  }
}

void remove_folder(const std::string& folder) {
  std::error_code ignored;  // it is in a place for files that may stay behind
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

OwnPictures::OwnPictures(int count) : folder_(make_temporary_folder()) {
  try {
    synthesize(folder_, {.count = count, .classes = count, .seed = kSeedOfPictures});
    write_objects(folder_);
    dataset_ = open_samples({folder_}, {.use_indexes = false});
  } catch (...) {
    remove_folder(folder_);
    throw;
  }
}

OwnPictures::~OwnPictures() { remove_folder(folder_); }

}  // namespace stoker
