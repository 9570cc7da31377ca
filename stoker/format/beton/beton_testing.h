// .beton files for tests, as the published layout has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/beton/beton_header.h"

namespace stoker {

struct TestBetonField {
  std::string name;
  BetonType type = BetonType::kImage;
  std::string numpy_type{};            // of an array: "<f4"
  std::vector<std::uint64_t> shape{};  // of an array
};

/// The bytes of a value, 8 of a number, and what the metadata of an image say.
struct TestBetonValue {
  std::string bytes;
  bool is_raw = false;
  std::uint16_t width = 0, height = 0;
};

using TestBetonSample = std::vector<TestBetonValue>;

/// Each sample lies in one page, as with FFCV, whose pages have at least 2 MiB.
std::string beton_file(const std::vector<TestBetonField>& fields, const std::vector<TestBetonSample>& samples,
                       std::uint32_t page_bytes = 512);

/// A number as 8 bytes.
std::string beton_int(std::int64_t number);

}  // namespace stoker
