// The members of a zip file, as its central directory and their own headers tell them; the directory is found from the
// end of the file. Both are the zip specification's (APPNOTE 6.3.10), with zip64.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// A file in a zip.
struct ZipMember {
  std::uint64_t name_begin = 0;  // in the directory's text
  std::uint16_t name_bytes = 0;
  std::uint16_t method = 0;
  bool is_encrypted = false;
  bool is_link = false;
  bool has_descriptor = false;  // its own header need not know its lengths
  std::uint32_t crc32 = 0;      // of its bytes, decompressed
  std::uint64_t header = 0;     // where its own header lies
  std::uint64_t data = 0;       // where its bytes lie
  std::uint64_t stored_length = 0, length = 0;
};

/// Threads: one.
class ZipDirectory {
 public:
  static constexpr std::uint16_t kStored = 0, kDeflated = 8, kZstd = 93;

  /// Reads all of it, and the header of every member that is not a folder. Throws kData naming the file and the place
  /// where it is no zip, truncated, damaged or one of several parts, where two members overlap or have one name, and
  /// where a member says that it becomes more than it can; kClosed when asked to stop, and what reading throws.
  ZipDirectory(Source& source, const std::stop_token& stop);

  /// In byte order of their names. Folders are among them, with a slash at the end.
  const std::vector<ZipMember>& members() const { return members_; }
  std::string_view name(const ZipMember& member) const {
    return std::string_view(names_).substr(member.name_begin, member.name_bytes);
  }
  bool is_folder(const ZipMember& member) const { return name(member).ends_with('/'); }
  /// The first member whose name is not before `wanted`.
  std::vector<ZipMember>::const_iterator from(std::string_view wanted) const;

 private:
  struct Extent {
    std::uint64_t begin, end;  // of the directory
    std::uint64_t members;
    std::uint64_t shift;         // to be added to offsets: bytes before the archive
    bool counts_modulo = false;  // 65,536, as writers without zip64 do
  };

  Extent find() const;
  Extent find_zip64(std::uint64_t locator, std::uint64_t end_record) const;
  void read_members(const Extent& extent, const std::stop_token& stop);
  void take_zip64(ZipMember& member, Bytes extra) const;
  void read_headers(const std::stop_token& stop);
  void read_header(ZipMember& member, Bytes header) const;
  void require_possible(const ZipMember& member) const;
  void require_different_names() const;
  template <typename... Args>
  [[noreturn]] void fail_damaged(fmt::format_string<Args...> format, Args&&... args) const;

  Source& source_;
  std::uint64_t members_end_ = 0;  // where the directory begins
  std::string names_;
  std::vector<ZipMember> members_;
};

}  // namespace stoker
