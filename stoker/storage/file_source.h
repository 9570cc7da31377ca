// One regular file, read by a FileIo. Its descriptor comes from a cache and may be closed between reads; the file is
// checked to be the same whenever it is opened again.
#pragma once

#include <memory>
#include <string>

#include "stoker/storage/file_access.h"
#include "stoker/storage/source.h"

namespace stoker {

class FileSource final : public Source {
 public:
  /// Opens the file; throws as open_file() does.
  /// Direct: requests may be aligned or not; those that are not are read by way of the access's bounce buffers.
  FileSource(std::string path, const FileAccess& access, FileOptions options = {});
  /// No read may be under way.
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const override { return name_; }
  /// As it was when the file was opened first; a file that shrinks later fails the reads that reach too far.
  std::uint64_t size(std::string_view part = {}) const override;
  /// As it was when the file was opened first: what is changed in place later is noticed by its size alone.
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override;
  /// In a forked child the file is read by the calling thread, which opens it for each read. Opening a file that was
  /// closed in the meantime happens on the calling thread, or on one that has just ended another read.
  void start(ReadRequest& request) override;
  /// Has the kernel read ahead; nothing when direct, or when all descriptors are in use.
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override;
  std::uint64_t alignment() const override { return options_.direct ? kDirectUnit : 1; }
  std::string_view io_name() const override { return io_name_; }
  /// Throws kData if the two opened different files, though they were given one path. Both were opened when made.
  void require_same_file_as(const FileSource& other) const;

 private:
  struct Reading;

  void read_here(const ReadRequest& request) const;
  std::exception_ptr why_unwanted(const ReadRequest& request) const noexcept;
  void read_opened(ReadRequest& request) noexcept;
  void read_piece(ReadRequest& request) noexcept;
  static void piece_ended(FileRead& read) noexcept;
  static void whole_ended(FileRead& read) noexcept;
  void finish(ReadRequest& request, std::exception_ptr error) noexcept;
  bool goes_straight(const ReadRequest& request) const;
  void require_success(const FileRead& read, std::uint64_t wanted) const;

  const std::string name_;
  const FileOptions options_;
  const std::shared_ptr<FileIo> io_;
  const std::string io_name_;
  const std::shared_ptr<OpenFiles> open_files_;
  const std::shared_ptr<BouncePool> bounce_pool_;
  OpenFiles::File file_;
  std::uint64_t size_ = 0;
  std::string version_;
};

}  // namespace stoker
