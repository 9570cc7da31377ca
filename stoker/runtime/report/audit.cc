#include "stoker/runtime/report/audit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/json_text.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

std::string key_json(const std::string& key) { return name_json(key).dump(); }

}  // namespace

AuditWriter::AuditWriter(std::string path) : path_(std::move(path)), file_(nullptr, std::fclose) {
  FileDescriptor file = own_output(path_);  // the rest of our output goes there, too: it is neither emptied nor locked
  if (!file) file = open_by_name();
  file_.reset(::fdopen(file.get(), "w"));
  if (!file_) fail_to_write();
  file.release();
}

AuditWriter::~AuditWriter() {
  if (is_file_) ::flock(::fileno(file_.get()), LOCK_UN);  // a forked child may keep the file open
}

FileDescriptor AuditWriter::open_by_name() {
  FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file) fail_to_write();
  struct stat facts;
  if (::fstat(file.get(), &facts) != 0) fail_to_write();
  is_file_ = S_ISREG(facts.st_mode);  // what is no file, such as /dev/null, any number may write to
  if (is_file_ && !lock_exclusively(file)) {
    fail(ErrorKind::kIo, "the audit '{}' is being written by another loader or process; give each a file of its own",
         path_);
  }
  return file;
}

void AuditWriter::fail_to_write() const {
  fail(ErrorKind::kIo, "cannot write the audit {}: {}", path_, std::strerror(errno));
}

void AuditWriter::begin() {
  if (!std::exchange(begun_, true) && is_file_ && ::ftruncate(::fileno(file_.get()), 0) != 0) fail_to_write();
}

void AuditWriter::write(const Batch& batch) {
  begin();
  std::vector<Bytes> outputs;
  room_.resize(batch.outputs().size());
  for (std::size_t output = 0; output < room_.size(); ++output) {
    outputs.push_back(batch.host_bytes(output, room_[output]));
  }
  std::string lines;
  for (int slot = 0; slot < batch.size(); ++slot) {
    if (!batch.valid(slot)) continue;
    hasher_.reset();
    const auto at = static_cast<std::size_t>(slot);
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      hasher_.update(batch.slot_bytes(output, slot, outputs[output].data()));
    }
    const bool stands_in = batch.substituted_for[at] >= 0;
    lines +=
        fmt::format("{{\"epoch\": {}, \"position\": {}, \"key\": {}, \"hash\": \"{}\"{}{}}}\n", batch.epoch,
                    batch.position[at], key_json(batch.key[at]), to_hex(hasher_.digest()),
                    stands_in ? ", \"substituted_for\": " : "", stands_in ? key_json(batch.substituted_key[at]) : "");
  }
  // Flushed per batch, so that all delivered samples are on record however the run ends.
  if (std::fwrite(lines.data(), 1, lines.size(), file_.get()) != lines.size() || std::fflush(file_.get()) != 0) {
    fail_to_write();
  }
}

}  // namespace stoker
