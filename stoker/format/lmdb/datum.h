// Caffe's message Datum, whose layout raw_datum.h shows, located in a value that need not be read as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "stoker/base/bytes.h"

namespace stoker {

struct Datum {
  std::optional<std::int64_t> label{};
  bool is_encoded = false;
  bool has_data = false, has_floats = false;
  std::uint64_t data_begin = 0, data_length = 0;  // in the message
};

/// Reads `count` bytes of the message at `at`: views that last until the next call.
using ReadMessage = std::function<Bytes(std::uint64_t at, std::size_t count)>;

/// Of a message of `length` bytes, of which only the parts around its data are read. Nothing for bytes that are
/// another message or none, as far as can be told; throws what `read` throws.
std::optional<Datum> read_datum(std::uint64_t length, const ReadMessage& read);

}  // namespace stoker
