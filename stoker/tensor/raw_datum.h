// Pictures as Caffe stores them without encoding, in its message
//
//   Datum { int32 channels = 1; int32 height = 2; int32 width = 3; bytes data = 4; int32 label = 5;
//           repeated float float_data = 6; bool encoded = 7; }
//
// whose data have a plane for each channel: blue, green and red, or grey alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stoker/base/bytes.h"

namespace stoker {

struct RawDatum {
  int width = 0, height = 0, channels = 0;
  std::size_t data_offset = 0;  // in the message

  std::uint64_t plane_bytes() const { return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height); }
  std::uint64_t data_bytes() const { return plane_bytes() * static_cast<std::uint64_t>(channels); }
};

/// So many bytes are enough to see whether a message is one.
inline constexpr std::size_t kRawDatumHeaderBytesMax = 44;

/// Of a message that begins as one of 1 or 3 channels with as many bytes of data as its sizes ask for; nothing for all
/// else. Whether they are all there is the caller's to check.
std::optional<RawDatum> read_raw_datum(Bytes beginning);

}  // namespace stoker
