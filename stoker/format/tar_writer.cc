#include "stoker/format/tar_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/utf8_locale.h"

namespace stoker {
namespace {

constexpr int kWriteBytes = 1 << 20;  // per system call

}  // namespace

void TarWriter::ArchiveFree::operator()(archive* writer) const { archive_write_free(writer); }

TarWriter::TarWriter(std::string path)
    : path_(std::move(path)),
      partial_path_(path_ + ".partial"),
      fd_(::open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (!fd_) fail_system("create", partial_path_, errno);
  archive_.reset(archive_write_new());
  if (!archive_) throw std::bad_alloc();
  archive* writer = archive_.get();
  // ustar wherever a name fits it, a pax header where not.
  const bool ok = archive_write_set_format_pax_restricted(writer) == ARCHIVE_OK &&
                  archive_write_set_bytes_per_block(writer, kWriteBytes) == ARCHIVE_OK &&
                  archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK &&
                  archive_write_open_fd(writer, fd_.get()) == ARCHIVE_OK;
  if (!ok) {
    ::unlink(partial_path_.c_str());
    require(false, "create");
  }
}

TarWriter::~TarWriter() {
  if (!fd_) return;
  archive_.reset();  // writes what it still holds, so before the descriptor closes
  ::unlink(partial_path_.c_str());
}

void TarWriter::add(std::string_view name, Bytes content) {
  const Utf8Locale utf8;
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
  if (!entry) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), std::string(name).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  // A warning is about the character set of a name that is not UTF-8; its bytes are kept.
  require(archive_write_header(archive_.get(), entry.get()) >= ARCHIVE_WARN, "write");
  const la_ssize_t written = archive_write_data(archive_.get(), content.data(), content.size());
  require(written == static_cast<la_ssize_t>(content.size()), "write");
}

void TarWriter::finish() {
  require(archive_write_close(archive_.get()) == ARCHIVE_OK, "write");
  if (::close(fd_.get()) != 0) {
    const int error = errno;
    fd_.release();
    ::unlink(partial_path_.c_str());
    fail_system("write", path_, error);
  }
  fd_.release();
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial_path_.c_str());
    fail_system("create", path_, error);
  }
}

void TarWriter::require(bool ok, std::string_view doing) const {
  if (!ok) fail_system(doing, path_, archive_errno(archive_.get()));
}

}  // namespace stoker
