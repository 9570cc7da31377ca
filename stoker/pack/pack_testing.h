// Small data sets for the tests of jobs over data sets.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar_testing.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/storage/file_source.h"
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

/// A JPEG that decodes, with a part of it concealed.
inline std::vector<std::uint8_t> hurt_jpeg() {
  std::vector<std::uint8_t> jpeg = noisy_jpeg(64, 64, 1);
  jpeg[jpeg.size() / 2] = 0xff;  // a restart marker, where none is expected
  jpeg[jpeg.size() / 2 + 1] = 0xd3;
  return jpeg;
}

/// A folder of `count` tiny images (PNG, 32 x 32) in `classes` classes.
inline std::string tiny_folder(const TempFolder& folder, std::int64_t count, std::int64_t classes,
                               const std::string& name = "loose") {
  synthesize(folder.path(name), {.kind = SynthKind::kTiny, .count = count, .classes = classes, .threads = 1});
  return folder.path(name);
}

/// Packs a folder of 60 images in 4 classes.
class PackOfTinyFolder : public ::testing::Test {
 protected:
  PackResult pack_to(const std::string& name, const PackOptions& options = {}) {
    return pack({source_}, folder_.path(name), options);
  }
  /// Begins the same and stops it once `samples` are done.
  void stop_pack_to(const std::string& name, PackOptions options, std::int64_t samples) {
    std::stop_source stop;
    options.stop = stop.get_token();
    options.progress = [&](std::int64_t done, std::int64_t) {
      if (done >= samples) stop.request_stop();
    };
    const Error error = error_of([&] { pack_to(name, options); });
    EXPECT_EQ(error.kind(), ErrorKind::kClosed);
    EXPECT_NE(std::string(error.what()).find("same command"), std::string::npos) << error.what();
  }

  static std::shared_ptr<const Dataset> open(const std::vector<std::string>& paths, const IndexOptions& index = {}) {
    return open_dataset(paths, std::make_shared<InlineExecutor>(), index);
  }
  static std::shared_ptr<const Dataset> open(const std::string& path, const IndexOptions& index = {}) {
    return open(std::vector{path}, index);
  }
  static std::string read_field(const SampleRow& row, std::string_view name) {
    const SampleField& field = *row.find(name);
    std::string bytes(field.length, '\0');
    read_fully(*row.source, field.offset, MutableBytes(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()),
               field.part);
    return bytes;
  }
  static std::vector<std::string> keys(const Dataset& data) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(data.key(i));
    return all;
  }

  TempFolder folder_;
  std::string source_ = tiny_folder(folder_, 60, 4);
};

}  // namespace stoker
