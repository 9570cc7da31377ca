// A folder of loose image files. Its top-level folders are the classes, numbered in byte order as torchvision's
// ImageFolder does; without any, the images directly in it are samples, whose classes
// are the numbers in their files "x.cls" where they have them, as in a tar.
#pragma once

#include "stoker/format/shard_format.h"

namespace stoker {

/// Files that share a key are one sample ("a.jpg" and "a.json"), which counts if it has an image; several images are
/// several samples (see loose_samples.h). Samples stand in byte order of their keys. Hidden files and folders are
/// passed over; links to folders are followed, except back to a folder that contains the link. What cannot be read,
/// or is a picture of another kind, is passed over and told of (ShardNotes::problems).
class FolderFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "folder"; }
  bool recognises(const ShardCandidate& shard) const override { return shard.is_folder(); }
  bool is_one_file() const override { return false; }
  bool is_folder() const override { return true; }
  /// Throws kIo for what fails without being forbidden, and kData for a class without images.
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

}  // namespace stoker
