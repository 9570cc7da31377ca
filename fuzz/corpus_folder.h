// A folder of inputs that fuzzing begins with.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void keep(const std::string& target, const std::string& name, Bytes input) const {
    write_whole_file(path(target, name), input);
  }
  /// Of an input that is to be written.
  std::string path(const std::string& target, const std::string& name) const {
    std::filesystem::create_directories(folder_ / target);
    return (folder_ / target / (name + ".input")).string();
  }

 private:
  std::filesystem::path folder_;
};

/// Of images, masks and boxes (image_seeds.cc).
void keep_image_seeds(const Corpus& corpus);

}  // namespace stoker
