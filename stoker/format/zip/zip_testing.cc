#include "stoker/format/zip/zip_testing.h"

#include <algorithm>

namespace stoker {
namespace {

/// Little-endian numbers and texts, one after another.
class ZipText {
 public:
  ZipText& u16(std::uint64_t value) { return number(value, 2); }
  ZipText& u32(std::uint64_t value) { return number(value, 4); }
  ZipText& u64(std::uint64_t value) { return number(value, 8); }
  ZipText& add(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }

 private:
  ZipText& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> 8 * i & 255);
    return *this;
  }

  std::string text_;
};

/// Deflate without compression: blocks of up to 65,535 bytes as they are.
std::string deflate_plainly(const std::string& content) {
  ZipText out;
  std::size_t at = 0;
  do {
    const std::size_t count = std::min<std::size_t>(content.size() - at, 65535);
    out.add(std::string(1, at + count == content.size() ? '\1' : '\0')).u16(count).u16(~count & 0xffff);
    out.add(std::string_view(content).substr(at, count));
    at += count;
  } while (at < content.size());
  return out.text();
}

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
  }
  return ~crc;
}

}  // namespace

std::string TestZip::bytes() const {
  constexpr std::uint32_t kIn64 = 0xffffffff;
  ZipText file, directory;
  file.add(prefix);
  for (const TestZipMember& member : members) {
    const std::string stored = member.deflate ? deflate_plainly(member.content) : member.content;
    const std::uint64_t length = member.length < 0 ? member.content.size() : static_cast<std::uint64_t>(member.length);
    const std::uint64_t header = file.size() - prefix.size();
    const std::uint32_t crc = member.crc32 < 0 ? crc32_of(member.content) : static_cast<std::uint32_t>(member.crc32);
    const std::uint64_t method = member.method >= 0 ? static_cast<std::uint64_t>(member.method)
                                 : member.deflate   ? 8
                                                    : 0;
    const std::uint64_t flags = member.flags | (member.descriptor ? 8U : 0U);
    file.add("PK\3\4").u16(20).u16(flags).u16(method).u32(0);
    if (member.descriptor) {
      file.u32(0).u32(0).u32(0);
    } else {
      file.u32(crc).u32(member.zip64 ? kIn64 : stored.size()).u32(member.zip64 ? kIn64 : length);
    }
    ZipText extra;
    if (member.zip64) extra.u16(1).u16(16).u64(length).u64(stored.size());
    file.u16(member.name.size()).u16(extra.size()).add(member.name).add(extra.text()).add(stored);
    if (member.descriptor) file.add("PK\7\10").u32(crc).u32(stored.size()).u32(length);

    ZipText entry_extra;
    entry_extra.u16(0x5455).u16(1).add("?");  // a field that readers pass over
    if (member.zip64) entry_extra.u16(1).u16(24).u64(length).u64(stored.size()).u64(header);
    directory.add("PK\1\2").u16(member.unix_mode ? 3 << 8 | 20 : 20).u16(20).u16(flags).u16(method).u32(0).u32(crc);
    directory.u32(member.zip64 ? kIn64 : stored.size()).u32(member.zip64 ? kIn64 : length);
    directory.u16(member.name.size()).u16(entry_extra.size()).u16(member.comment.size()).u16(0).u16(0);
    directory.u32(std::uint64_t{member.unix_mode} << 16).u32(member.zip64 ? kIn64 : header);
    directory.add(member.name).add(entry_extra.text()).add(member.comment);
  }
  const std::uint64_t begin = file.size() - prefix.size(), end = begin + directory.size();
  file.add(directory.text());
  if (zip64) {
    file.add("PK\6\6").u64(44).u16(45).u16(45).u32(0).u32(0).u64(members.size()).u64(members.size());
    file.u64(directory.size()).u64(begin);
    file.add("PK\6\7").u32(0).u64(end).u32(1);
  }
  const std::uint64_t count = zip64 ? 0xffff : members.size() % 65536;
  file.add("PK\5\6").u16(0).u16(0).u16(count).u16(count);
  file.u32(zip64 ? kIn64 : directory.size()).u32(zip64 ? kIn64 : begin).u16(comment.size()).add(comment);
  return file.text();
}

}  // namespace stoker
