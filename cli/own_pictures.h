// Procedural pictures, for commands that show something and were given no data.
#pragma once

#include <memory>
#include <string>

#include "stoker/format/dataset.h"

namespace stoker {

/// A data set of so many photographs of sorts, each of its own class: always the same ones. They lie in a temporary
/// folder until this is destroyed.
class OwnPictures {
 public:
  /// Throws kIo where there is no room for them.
  explicit OwnPictures(int count);
  ~OwnPictures();
  OwnPictures(const OwnPictures&) = delete;
  OwnPictures& operator=(const OwnPictures&) = delete;

  /// Its samples can be read only while this lives.
  const std::shared_ptr<const Dataset>& dataset() const { return dataset_; }

 private:
  std::string folder_;
  std::shared_ptr<const Dataset> dataset_;
};

}  // namespace stoker
