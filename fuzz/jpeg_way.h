// Which instruction set, and which of its ways to decode segments, an input is tried on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/isa.h"
#include "stoker/codec/jpeg/segment_decoder.h"

namespace stoker {

/// One of all that this machine has.
inline void select_some_way(std::uint64_t number) {
  const std::vector<std::string> isas = available_isas();
  select_isa(isas[number % isas.size()]);
  const std::vector<std::string> ways = SegmentDecoder::ways();
  SegmentDecoder::select_way(ways[number / isas.size() % ways.size()]);
}

}  // namespace stoker
