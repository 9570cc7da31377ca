// The frame of a record in a TFRecord file. Numbers are little-endian; a checksum is a CRC-32C, masked so that the
// checksum of bytes that hold their own is an ordinary one:
//
//   u64  length of the data
//   u32  masked checksum of these 8 bytes
//        data
//   u32  masked checksum of the data
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/bytes.h"

namespace stoker {

inline constexpr std::size_t kTfRecordHeaderBytes = 12;
inline constexpr std::size_t kTfRecordFooterBytes = 4;

std::uint32_t masked_crc32c(Bytes bytes);

/// The data's length, if the checksum of the header, of which at least kTfRecordHeaderBytes are given, matches.
std::optional<std::uint64_t> read_tfrecord_header(Bytes header);

}  // namespace stoker
