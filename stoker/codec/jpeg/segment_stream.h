// The state of a bit stream within a segment, and the plain decoding of its next symbol, which every segment decoder
// uses where its fast path ends.
#pragma once

#include <cstdint>

#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/scan_bytes.h"

namespace stoker {

struct SegmentStream {
  std::uint64_t bits = 0;  // the next, from the highest on
  std::uint64_t bit = 0;   // how many came before
  std::uint32_t position = 0;
  std::uint32_t table = 0;    // where the next symbol's begins
  std::uint32_t overrun = 0;  // 64 or more once a run has left its block
};

/// What a symbol says: the coefficient at q.
struct DecodedSymbol {
  bool good = false;
  std::uint32_t q = 0;
  std::int16_t value = 0;
};

/// Decodes the symbol at `stream.bit` and moves that on. Not good if there is none, or it leads to `end` or beyond.
inline DecodedSymbol decode_symbol(const JpegTables& tables, const std::uint8_t* data, std::uint32_t end,
                                   SegmentStream& stream) {
  const auto table = static_cast<int>(stream.table / JpegTables::kTableSize);
  const JpegSymbol symbol = tables.decode(table, load_bits(data, stream.bit));
  const std::uint32_t q =
      (symbol.to_end ? stream.position | 63 : stream.position) + static_cast<std::uint32_t>(symbol.run);
  stream.bit += static_cast<std::uint64_t>(symbol.length);
  return {symbol.good && q < end, q, static_cast<std::int16_t>(symbol.value)};
}

}  // namespace stoker
