// The side that a stage runs on.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class StageSide : std::uint8_t { kCpu, kDevice };

constexpr std::string_view to_string(StageSide side) { return side == StageSide::kCpu ? "cpu" : "device"; }

}  // namespace stoker
