#include "stoker/tensor/npy_testing.h"

#include <fmt/format.h>

#include "stoker/base/little_endian.h"

namespace stoker {

std::vector<std::uint8_t> npy_file(const NpyOfTest& array, Bytes numbers) {
  const std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", array.type,
                                       array.is_column_major ? "True" : "False", array.shape);
  std::vector<std::uint8_t> file{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  append_little_endian(file, static_cast<std::uint16_t>(text.size()));
  file.insert(file.end(), text.begin(), text.end());
  file.insert(file.end(), numbers.begin(), numbers.end());
  return file;
}

std::vector<std::uint8_t> uneven_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>((i * 2654435761U + seed * 40503U) >> 13 ^ i >> 3);
  }
  return bytes;
}

}  // namespace stoker
