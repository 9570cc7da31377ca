#include "stoker/pack/file_state.h"

#include <utility>

#include "stoker/base/error.h"

namespace stoker {

FileState::FileState(const Stores& stores, Location file)
    : stores_(&stores), file_(std::move(file)), version_(stores.stat(file_, "look at").version()) {}

void FileState::require_unchanged() const {
  if (FileState(*stores_, file_).version() == version_) return;
  fail(ErrorKind::kData, "'{}' changed while it was read; start again when no other program writes to it", file_);
}

}  // namespace stoker
