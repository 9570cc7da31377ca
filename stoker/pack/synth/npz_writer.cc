#include "stoker/pack/synth/npz_writer.h"

#include <libdeflate.h>

#include <cassert>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

// The records of a zip (APPNOTE.TXT): a header before each member, then the directory, then its end.
constexpr std::uint32_t kMemberSignature = 0x04034B50, kEntrySignature = 0x02014B50, kEndSignature = 0x06054B50;
constexpr std::uint16_t kVersion = 20;             // 2.0: what stored members need
constexpr std::uint16_t kFirstDay = (1 << 5) | 1;  // 1980-01-01, the first that a zip can say
constexpr std::uint64_t kZipBytesMax = std::numeric_limits<std::uint32_t>::max();

/// What the header of a member and its entry in the directory have in common.
void append_facts(std::vector<std::uint8_t>& record, std::uint32_t crc, std::uint32_t length, std::uint16_t name) {
  append_little_endian(record, kVersion);
  append_little_endian(record, std::uint16_t{0});  // flags
  append_little_endian(record, std::uint16_t{0});  // stored
  append_little_endian(record, std::uint16_t{0});  // midnight
  append_little_endian(record, kFirstDay);
  append_little_endian(record, crc);
  append_little_endian(record, length);  // stored
  append_little_endian(record, length);
  append_little_endian(record, name);
  append_little_endian(record, std::uint16_t{0});  // extra
}

}  // namespace

void NpzWriter::write(Bytes bytes) {
  object_->write(bytes);
  written_ += bytes.size();
}

void NpzWriter::add(const std::string& name, const NpyArray& array, Bytes values) {
  // As a row of an array of one more axis, it has the header that makes it an array by itself.
  NpyArray around = array;
  around.shape.insert(around.shape.begin(), 1);
  const std::vector<std::uint8_t> header = around.row_header();
  const std::string file = name + ".npy";
  const std::uint64_t length = header.size() + values.size();
  if (written_ + length + directory_.size() > kZipBytesMax - (std::uint64_t{1} << 16)) {
    fail(ErrorKind::kLimit, "'{}': its arrays have more than the 4 GiB that a plain zip can hold", object_->name());
  }
  assert(values.size() % array.rows() == 0);
  const std::uint32_t crc =
      libdeflate_crc32(libdeflate_crc32(0, header.data(), header.size()), values.data(), values.size());
  const auto begin = static_cast<std::uint32_t>(written_);
  std::vector<std::uint8_t> record;
  append_little_endian(record, kMemberSignature);
  append_facts(record, crc, static_cast<std::uint32_t>(length), static_cast<std::uint16_t>(file.size()));
  record.insert(record.end(), file.begin(), file.end());
  write(record);
  write(header);
  write(values);

  append_little_endian(directory_, kEntrySignature);
  append_little_endian(directory_, kVersion);  // made by
  append_facts(directory_, crc, static_cast<std::uint32_t>(length), static_cast<std::uint16_t>(file.size()));
  append_little_endian(directory_, std::uint16_t{0});  // comment
  append_little_endian(directory_, std::uint16_t{0});  // disk
  append_little_endian(directory_, std::uint16_t{0});  // internal attributes
  append_little_endian(directory_, std::uint32_t{0});  // external attributes
  append_little_endian(directory_, begin);
  directory_.insert(directory_.end(), file.begin(), file.end());
  ++members_;
}

void NpzWriter::finish() {
  const auto directory = static_cast<std::uint32_t>(written_);
  write(directory_);
  std::vector<std::uint8_t> end;
  append_little_endian(end, kEndSignature);
  append_little_endian(end, std::uint16_t{0});  // disk
  append_little_endian(end, std::uint16_t{0});  // disk of the directory
  append_little_endian(end, members_);
  append_little_endian(end, members_);
  append_little_endian(end, static_cast<std::uint32_t>(directory_.size()));
  append_little_endian(end, directory);
  append_little_endian(end, std::uint16_t{0});  // comment
  write(end);
  object_->commit();
}

}  // namespace stoker
