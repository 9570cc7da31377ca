#include "stoker/format/zip/zip_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

// Signatures, and how long the records are without what varies.
constexpr std::uint32_t kHeaderMark = 0x04034b50, kEntryMark = 0x02014b50, kEndMark = 0x06054b50,
                        kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50;
constexpr std::size_t kHeaderBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr std::size_t kCommentBytesMax = 65535;

constexpr std::uint16_t kEncryptedFlag = 1, kDescriptorFlag = 8, kStrongFlag = 64, kMaskedFlag = 8192;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number stands in the zip64 field
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint8_t kMadeOnUnix = 3;

// Deflate makes at most 258 bytes of 2 bits.
constexpr std::uint64_t kDeflateRatioMax = 1032;

template <typename T>
T number_at(Bytes record, std::size_t at) {
  return load_little_endian<T>(record.data() + at);
}

/// Where an end record begins in the last bytes of a file: the last one that, with its comment, ends the file.
std::optional<std::size_t> find_end_record(Bytes last) {
  if (last.size() < kEndBytes) return std::nullopt;
  for (std::size_t at = last.size() - kEndBytes + 1; at-- > 0;) {
    const Bytes record = last.subspan(at);
    if (number_at<std::uint32_t>(record, 0) != kEndMark) continue;
    if (kEndBytes + number_at<std::uint16_t>(record, 20) == record.size()) return at;
  }
  return std::nullopt;
}

/// Headers are read in the order in which they lie in the file: what follows one may hold the next.
class HeaderWindow {
 public:
  HeaderWindow(Source& source, std::uint64_t end) : source_(source), end_(end) {}

  /// Bytes from there on, at least `count` unless the members end before.
  Bytes at(std::uint64_t offset, std::size_t count) {
    if (offset >= end_) return {};
    const std::uint64_t wanted = std::min<std::uint64_t>(count, end_ - offset);
    if (offset < begin_ || offset + wanted > begin_ + bytes_.size()) {
      bytes_.resize(static_cast<std::size_t>(std::min(std::max(wanted, source_.gap_in_turn()), end_ - offset)));
      begin_ = offset;
      read_fully(source_, offset, bytes_);
    }
    return Bytes(bytes_).subspan(static_cast<std::size_t>(offset - begin_));
  }

 private:
  Source& source_;
  const std::uint64_t end_;
  std::uint64_t begin_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

template <typename... Args>
void ZipDirectory::fail_damaged(fmt::format_string<Args...> format, Args&&... args) const {
  fail(ErrorKind::kData, "'{}' is damaged: {}", source_.name(), fmt::format(format, std::forward<Args>(args)...));
}

ZipDirectory::ZipDirectory(Source& source, const std::stop_token& stop) : source_(source) {
  read_members(find(), stop);
  read_headers(stop);
  std::sort(members_.begin(), members_.end(),
            [this](const ZipMember& a, const ZipMember& b) { return name(a) < name(b); });
  require_different_names();
}

ZipDirectory::Extent ZipDirectory::find() const {
  const std::uint64_t size = source_.size();
  std::vector<std::uint8_t> last(
      static_cast<std::size_t>(std::min<std::uint64_t>(size, kLocatorBytes + kEndBytes + kCommentBytesMax)));
  read_fully(source_, size - last.size(), last);
  const std::optional<std::size_t> found = find_end_record(last);
  if (!found) {
    fail(ErrorKind::kData, "'{}' is truncated or not a zip file: the directory that a zip has at its end is missing",
         source_.name());
  }
  const std::uint64_t at = size - last.size() + *found;
  if (*found >= kLocatorBytes &&
      number_at<std::uint32_t>(Bytes(last).subspan(*found - kLocatorBytes), 0) == kLocatorMark) {
    return find_zip64(number_at<std::uint64_t>(Bytes(last).subspan(*found - kLocatorBytes), 8), at);
  }
  const Bytes record = Bytes(last).subspan(*found);
  if (number_at<std::uint16_t>(record, 4) != 0 || number_at<std::uint16_t>(record, 6) != 0) {
    fail(ErrorKind::kData, "'{}' is one of several parts of a zip; join them to one file", source_.name());
  }
  const std::uint64_t bytes = number_at<std::uint32_t>(record, 12), begin = number_at<std::uint32_t>(record, 16);
  if (bytes > at || begin > at - bytes) fail_damaged("its directory would reach past byte {}", at);
  return {.begin = at - bytes,
          .end = at,
          .members = number_at<std::uint16_t>(record, 10),
          .shift = at - bytes - begin,
          .counts_modulo = true};
}

ZipDirectory::Extent ZipDirectory::find_zip64(std::uint64_t locator, std::uint64_t end_record) const {
  std::array<std::uint8_t, kEnd64Bytes> record;
  const std::uint64_t last = end_record - kLocatorBytes;  // where the record ends
  // Bytes that were put before an archive shift it, but not the offsets in it.
  for (std::uint64_t at : {locator, last - std::min<std::uint64_t>(last, kEnd64Bytes)}) {
    if (at > last || last - at < kEnd64Bytes) continue;
    read_fully(source_, at, record);
    if (number_at<std::uint32_t>(record, 0) != kEnd64Mark) continue;
    if (number_at<std::uint32_t>(record, 16) != 0 || number_at<std::uint32_t>(record, 20) != 0) {
      fail(ErrorKind::kData, "'{}' is one of several parts of a zip; join them to one file", source_.name());
    }
    const auto bytes = number_at<std::uint64_t>(record, 40), begin = number_at<std::uint64_t>(record, 48);
    if (bytes > at || begin > at - bytes) fail_damaged("its directory would reach past byte {}", at);
    return {
        .begin = at - bytes, .end = at, .members = number_at<std::uint64_t>(record, 32), .shift = at - bytes - begin};
  }
  fail_damaged("the zip64 record that byte {} points to is missing", last);
}

void ZipDirectory::read_members(const Extent& extent, const std::stop_token& stop) {
  members_end_ = extent.begin;
  SequentialReader reader(source_, extent.begin, extent.end);
  while (reader.left() > 0) {
    const std::uint64_t at = reader.position();
    if (members_.size() % 1024 == 0) stop_if_asked(stop, source_.name());
    std::array<std::uint8_t, kEntryBytes> entry;
    if (reader.left() < entry.size()) fail_damaged("its directory ends within the entry at byte {}", at);
    const Bytes head = reader.take(entry.size());
    std::copy(head.begin(), head.end(), entry.begin());
    if (number_at<std::uint32_t>(entry, 0) != kEntryMark)
      fail_damaged("there is no entry of its directory at byte {}", at);
    const auto flags = number_at<std::uint16_t>(entry, 8);
    const std::size_t name_bytes = number_at<std::uint16_t>(entry, 28),
                      extra_bytes = number_at<std::uint16_t>(entry, 30),
                      comment_bytes = number_at<std::uint16_t>(entry, 32);
    if (flags & kMaskedFlag) {
      fail(ErrorKind::kData, "'{}' is encrypted, its directory, too; Stoker reads no encrypted files", source_.name());
    }
    if (reader.left() < name_bytes + extra_bytes + comment_bytes) {
      fail_damaged("its directory ends within the entry at byte {}", at);
    }
    ZipMember& member = members_.emplace_back();
    member.method = number_at<std::uint16_t>(entry, 10);
    member.is_encrypted = (flags & (kEncryptedFlag | kStrongFlag)) != 0;
    member.has_descriptor = (flags & kDescriptorFlag) != 0;
    member.is_link = entry[5] == kMadeOnUnix && S_ISLNK(number_at<std::uint32_t>(entry, 38) >> 16);
    member.crc32 = number_at<std::uint32_t>(entry, 16);
    member.stored_length = number_at<std::uint32_t>(entry, 20);
    member.length = number_at<std::uint32_t>(entry, 24);
    member.header = number_at<std::uint32_t>(entry, 42);
    const Bytes rest = reader.take(name_bytes + extra_bytes + comment_bytes);
    member.name_begin = names_.size();
    member.name_bytes = static_cast<std::uint16_t>(name_bytes);
    names_ += as_text(rest.first(name_bytes));
    take_zip64(member, rest.subspan(name_bytes, extra_bytes));
    if (member.header > INT64_MAX - extent.shift) fail_damaged("'{}' lies past its end", escaped(name(member)));
    member.header += extent.shift;
    require_possible(member);
  }
  const std::uint64_t found = extent.counts_modulo ? members_.size() % 65536 : members_.size();
  if (found != extent.members) {
    fail_damaged("its directory has {} and says that there are {}", counted(members_.size(), "member"), extent.members);
  }
}

void ZipDirectory::take_zip64(ZipMember& member, Bytes extra) const {
  if (member.length != kIn64 && member.stored_length != kIn64 && member.header != kIn64) return;
  while (extra.size() >= 4) {
    const auto kind = number_at<std::uint16_t>(extra, 0);
    const std::size_t bytes = number_at<std::uint16_t>(extra, 2);
    if (bytes > extra.size() - 4) break;
    Bytes field = extra.subspan(4, bytes);
    extra = extra.subspan(4 + bytes);
    if (kind != kZip64Field) continue;
    for (std::uint64_t* const value : {&member.length, &member.stored_length, &member.header}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) fail_damaged("the zip64 field of '{}' is cut short", escaped(name(member)));
      *value = number_at<std::uint64_t>(field, 0);
      field = field.subspan(8);
    }
    return;
  }
}

void ZipDirectory::require_possible(const ZipMember& member) const {
  if (member.method == kStored && !member.is_encrypted && member.length != member.stored_length) {
    fail_damaged("'{}' is stored as it is, but has {} in place of {}", escaped(name(member)),
                 byte_count(member.stored_length), byte_count(member.length));
  }
  if (member.method == kDeflated && member.length / kDeflateRatioMax > member.stored_length) {
    fail_damaged("'{}' says that its {} become {}, more than deflate can make of them", escaped(name(member)),
                 byte_count(member.stored_length), byte_count(member.length));
  }
}

void ZipDirectory::read_headers(const std::stop_token& stop) {
  std::sort(members_.begin(), members_.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.header < b.header; });
  HeaderWindow window(source_, members_end_);
  const ZipMember* before = nullptr;
  std::size_t count = 0;
  for (ZipMember& member : members_) {
    if (count++ % 1024 == 0) stop_if_asked(stop, source_.name());
    if (before && member.header < before->data + before->stored_length) {
      fail_damaged("'{}' and '{}' overlap at byte {}", escaped(name(*before)), escaped(name(member)), member.header);
    }
    read_header(member, window.at(member.header, kHeaderBytes + member.name_bytes));
    before = &member;
  }
}

void ZipDirectory::read_header(ZipMember& member, Bytes header) const {
  const std::string_view name = this->name(member);
  if (header.size() < kHeaderBytes + name.size() || number_at<std::uint32_t>(header, 0) != kHeaderMark) {
    fail_damaged("there is no header of '{}' at byte {}", escaped(name), member.header);
  }
  const std::size_t extra = number_at<std::uint16_t>(header, 28);
  const std::uint32_t stored_length = number_at<std::uint32_t>(header, 18),
                      length = number_at<std::uint32_t>(header, 22);
  const auto differs = [&](std::uint32_t here, std::uint64_t in_directory) {
    return here != in_directory && here != kIn64 && !(here == 0 && member.has_descriptor);
  };
  if (number_at<std::uint16_t>(header, 8) != member.method || number_at<std::uint16_t>(header, 26) != name.size() ||
      as_text(header.subspan(kHeaderBytes, name.size())) != name || differs(stored_length, member.stored_length) ||
      differs(length, member.length)) {
    fail_damaged("the header of '{}' at byte {} says something else than the directory", escaped(name), member.header);
  }
  member.data = member.header + kHeaderBytes + name.size() + extra;
  if (member.data > members_end_ || member.stored_length > members_end_ - member.data) {
    fail_damaged("the {} of '{}' from byte {} on reach into the directory", byte_count(member.stored_length),
                 escaped(name), member.data);
  }
}

void ZipDirectory::require_different_names() const {
  const auto twice = std::adjacent_find(
      members_.begin(), members_.end(),
      [this](const ZipMember& a, const ZipMember& b) { return name(a) == name(b) && !is_folder(a); });
  if (twice == members_.end()) return;
  fail_damaged("it has '{}' twice, at bytes {} and {}", escaped(name(*twice)), twice->header, (twice + 1)->header);
}

std::vector<ZipMember>::const_iterator ZipDirectory::from(std::string_view wanted) const {
  return std::lower_bound(members_.begin(), members_.end(), wanted,
                          [this](const ZipMember& member, std::string_view other) { return name(member) < other; });
}

}  // namespace stoker
