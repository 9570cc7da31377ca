// Steps through the members of a tar that lies in a Source, by libarchive, reading headers and seeking over the data.
// It is stricter than libarchive: every byte of a member must be there, and so must the mark at the archive's end.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "stoker/storage/source.h"

struct archive;
struct archive_entry;

namespace stoker {

class TarReader {
 public:
  /// The source must outlive the reader.
  explicit TarReader(Source& source);
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  /// Goes to the next member of any type; false at the end of the archive. Throws kData when what follows is damaged or
  /// truncated, and what the source throws.
  bool next();

  /// The member at hand.
  const std::string& name() const { return name_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t length() const { return length_; }
  /// Whether its data is one range of the archive: a regular file, not sparse, not a link.
  bool is_plain_file() const { return is_plain_file_; }
  bool is_folder() const { return is_folder_; }

  /// The first `limit` bytes of the member's data, or all of it when it has less. To be called once per member.
  std::string read(std::size_t limit);

 private:
  static ssize_t read_block(archive*, void* reader, const void** block);
  static std::int64_t skip(archive*, void* reader, std::int64_t count);

  void take_entry(archive_entry* entry);
  void require_end_mark(std::uint64_t last_end) const;
  void rethrow_source_error();
  [[noreturn]] void fail_unreadable(std::uint64_t header);
  /// Bytes of the archive that libarchive has passed: after a header, where the data begins.
  std::uint64_t consumed() const;
  std::string last_member() const;
  /// Up to how many bytes cost a source that is far away less to read than to pass over; 0 for a file.
  std::size_t gap() const;

  Source& source_;
  std::uint64_t size_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;

  std::uint64_t position_ = 0;  // of the next block to read from the source
  std::vector<std::uint8_t> block_;
  std::size_t block_bytes_;
  std::exception_ptr source_error_;  // thrown under libarchive's frames, which no exception may pass

  std::string name_;
  std::uint64_t offset_ = 0, length_ = 0;
  bool is_plain_file_ = false, is_folder_ = false;
  bool has_member_ = false;
};

}  // namespace stoker
