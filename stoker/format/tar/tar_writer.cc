#include "stoker/format/tar/tar_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/utf8_locale.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {

namespace {

using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

Entry make_entry(std::string_view name, std::uint64_t content_bytes) {
  Entry entry(archive_entry_new(), archive_entry_free);
  if (!entry) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), std::string(name).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content_bytes));
  archive_entry_set_mtime(entry.get(), 0, 0);
  return entry;
}

/// ustar wherever a name fits it, a pax header where not. Blocks of no size: what libarchive writes arrives at once, so
/// that the place of every member is known.
bool set_format(archive* writer) {
  return archive_write_set_format_pax_restricted(writer) == ARCHIVE_OK &&
         archive_write_set_bytes_per_block(writer, 0) == ARCHIVE_OK &&
         archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK;
}

}  // namespace

TarWriter::TarWriter(std::string path) : TarWriter(std::make_unique<AtomicFile>(std::move(path))) {}

TarWriter::TarWriter(std::unique_ptr<ObjectWriter> object)
    : object_(std::move(object)), archive_(archive_write_new(), archive_write_free) {
  if (!archive_) throw std::bad_alloc();
  archive* writer = archive_.get();
  require(set_format(writer) && archive_write_open(writer, this, nullptr, write_block, nullptr) == ARCHIVE_OK);
}

ssize_t TarWriter::write_block(archive* handle, void* writer, const void* block, std::size_t length) {
  auto& self = *static_cast<TarWriter*>(writer);
  const Bytes bytes(static_cast<const std::uint8_t*>(block), length);
  if (self.write_error_) return -1;  // libarchive ends the archive even after a failure: nothing may follow that one
  if (std::exception_ptr error = thrown_by([&] { self.object_->write(bytes); })) {
    if (!self.write_error_) self.write_error_ = std::move(error);
    archive_set_error(handle, EIO, "the file cannot be written");
    return -1;
  }
  self.hasher_.update(bytes);
  self.bytes_ += length;
  return static_cast<ssize_t>(length);
}

std::uint64_t TarWriter::add(std::string_view name, Bytes content) {
  const Utf8Locale utf8;
  const Entry entry = make_entry(name, content.size());
  // A warning is about the character set of a name that is not UTF-8; its bytes are kept.
  require(archive_write_header(archive_.get(), entry.get()) >= ARCHIVE_WARN);
  const std::uint64_t offset = bytes_;
  const la_ssize_t written = archive_write_data(archive_.get(), content.data(), content.size());
  require(written == static_cast<la_ssize_t>(content.size()));
  require(archive_write_finish_entry(archive_.get()) == ARCHIVE_OK);
  return offset;
}

void TarWriter::finish() {
  require(archive_write_close(archive_.get()) == ARCHIVE_OK);
  object_->commit();
}

void TarWriter::require(bool ok) const {
  if (ok) return;
  if (write_error_) std::rethrow_exception(write_error_);
  fail(ErrorKind::kIo, "cannot write '{}': {}", object_->name(), archive_error_string(archive_.get()));
}

std::string tar_header(std::string_view name, std::uint64_t content_bytes) {
  const Utf8Locale utf8;
  std::string written_bytes;  // outlives the writer, which appends the end of the archive on its way out
  const std::unique_ptr<archive, decltype(&archive_write_free)> writer(archive_write_new(), archive_write_free);
  if (!writer) throw std::bad_alloc();
  const auto append = [](archive*, void* into, const void* block, std::size_t length) {
    static_cast<std::string*>(into)->append(static_cast<const char*>(block), length);
    return static_cast<la_ssize_t>(length);
  };
  const bool written = set_format(writer.get()) &&
                       archive_write_open(writer.get(), &written_bytes, nullptr, append, nullptr) == ARCHIVE_OK &&
                       archive_write_header(writer.get(), make_entry(name, content_bytes).get()) >= ARCHIVE_WARN;
  if (!written) fail(ErrorKind::kUsage, "'{}' cannot be a member of a tar", name);
  return std::string(written_bytes);
}

}  // namespace stoker
