// What stands in front of the pages of a .beton file, as FFCV writes it. Numbers are little-endian:
//
//   header      u16 version 2, u16 number of fields, u32 bytes of a page, u64 number of samples, u64 where the table of
//               allocations begins
//   fields      each u8 type, 16 bytes of name, 1024 bytes of arguments
//   metadata    for each sample a value of each field: a number itself, else where its bytes lie
//   pages       from a multiple of their size on
//   allocations to the end of the file: u64 sample, u64 offset, u64 length of each value that lies in a page
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// The numbers are those of the file.
enum class BetonType : std::uint8_t {
  kFloat = 0,    // f64
  kInteger = 1,  // i64
  kImage = 2,    // u8 mode, u16 width, u16 height, u64 offset
  kBytes = 3,    // u64 offset, u64 length
  kArray = 4,    // u64 offset
  kJson = 5,     // as bytes, with a zero after the text
  kTensor = 6,   // as an array
};

struct BetonField {
  std::string name;
  BetonType type = BetonType::kFloat;
  std::size_t offset = 0;              // in a sample's metadata
  std::string_view element{};          // of an array: "f32"; empty for one without such a name
  std::vector<std::uint64_t> shape{};  // of an array

  bool is_allocated() const { return type != BetonType::kFloat && type != BetonType::kInteger; }
};

struct BetonHeader {
  std::uint64_t samples = 0;
  std::uint64_t metadata_at = 0, metadata_bytes = 0;  // of each sample
  std::uint64_t allocations_at = 0;
  std::vector<BetonField> fields{};
  std::size_t allocated = 0;  // of the fields: each has an allocation for each sample
};

inline constexpr std::size_t kBetonAllocationBytes = 24;
inline constexpr std::size_t kBetonFieldsMax = 1024;
/// More allocations than a file may have: a scan keeps all of them.
inline constexpr std::uint64_t kBetonAllocationsMax = std::uint64_t{1} << 26;

/// Throws kData naming the file if it is damaged or truncated, and what reading throws.
BetonHeader read_beton_header(Source& source);

/// Whether a file can begin so.
bool is_beton(Bytes beginning);

}  // namespace stoker
