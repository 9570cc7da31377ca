#include "stoker/format/shard_format.h"

#include "stoker/base/error.h"
#include "stoker/format/folder/folder_format.h"
#include "stoker/format/tar/tar_format.h"

namespace stoker {

void stop_if_asked(const std::stop_token& stop, const std::string& path) {
  if (stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while looking for samples in '{}'", path);
}

const std::vector<const ShardFormat*>& shard_formats() {
  static const FolderFormat folder;
  static const TarFormat tar;
  static const std::vector<const ShardFormat*> formats = {&folder, &tar};
  return formats;
}

}  // namespace stoker
