#include "stoker/format/recordio/recordio_testing.h"

#include <bit>

#include "stoker/base/little_endian.h"
#include "stoker/format/recordio/recordio_reader.h"

namespace stoker {
namespace {

std::string text_of(const std::vector<std::uint8_t>& bytes) { return std::string(as_text(bytes)); }

}  // namespace

std::string recordio_part(std::uint32_t kind, std::string_view data) {
  std::vector<std::uint8_t> header;
  append_little_endian(header, kRecordIoMagic);
  append_little_endian(header, kind << 29 | static_cast<std::uint32_t>(data.size()));
  return text_of(header) + std::string(data) + std::string((4 - data.size() % 4) % 4, '\0');
}

std::string recordio_record(std::string_view data) {
  std::vector<std::uint8_t> magic;
  append_little_endian(magic, kRecordIoMagic);
  std::string record;
  std::size_t begin = 0;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (data.substr(at, 4) != as_text(magic)) continue;
    record += recordio_part(begin == 0 ? 1 : 2, data.substr(begin, at - begin));
    begin = at + 4;
  }
  return record + recordio_part(begin == 0 ? 0 : 3, data.substr(begin));
}

std::string recordio_image(const std::vector<float>& labels, std::uint64_t id, std::string_view image) {
  std::vector<std::uint8_t> header;
  const bool several = labels.size() != 1;
  append_little_endian(header, static_cast<std::uint32_t>(several ? labels.size() : 0));
  append_little_endian(header, std::bit_cast<std::uint32_t>(several ? 0.0F : labels[0]));
  append_little_endian(header, id);
  append_little_endian(header, std::uint64_t{0});
  if (several) {
    for (const float label : labels) append_little_endian(header, std::bit_cast<std::uint32_t>(label));
  }
  return text_of(header) + std::string(image);
}

}  // namespace stoker
