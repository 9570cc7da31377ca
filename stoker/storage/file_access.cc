#include "stoker/storage/file_access.h"

#include "stoker/storage/pread_io.h"

namespace stoker {

FileAccess::FileAccess(std::shared_ptr<Executor> blocking)
    : FileAccess(blocking, std::make_shared<PreadIo>(blocking)) {}

FileAccess::FileAccess(std::shared_ptr<Executor> blocking, std::shared_ptr<FileIo> io)
    : executor(std::move(blocking)), file_io(std::move(io)) {}

}  // namespace stoker
