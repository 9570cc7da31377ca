#include "stoker/format/shard_format.h"

#include "stoker/format/folder_format.h"
#include "stoker/format/tar_format.h"

namespace stoker {

const std::vector<const ShardFormat*>& shard_formats() {
  static const FolderFormat folder;
  static const TarFormat tar;
  static const std::vector<const ShardFormat*> formats = {&folder, &tar};
  return formats;
}

}  // namespace stoker
