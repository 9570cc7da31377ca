// A JPEG whose scan is walked in short stretches, beside a walk symbol by symbol.
#include <optional>

#include "fuzz/fuzz_target.h"
#include "stoker/base/hash.h"
#include "stoker/codec/jpeg/scan_walker_testing.h"

namespace stoker {
namespace {

constexpr int kPixelsMax = 1 << 16;

void run(Bytes input) {
  const std::optional<JpegHeader> header = parse_jpeg_header(input);
  if (!header || header->width > kPixelsMax / header->height) return;
  const std::uint64_t number = hash64(input);
  const int down = McuGrid(*header).down;
  const auto shortest = static_cast<std::int64_t>(8 + number % 61);
  const WalkStretch stretch{.shortest = shortest, .longest = shortest * (1 + static_cast<std::int64_t>(number % 3))};
  WalkComparison comparison;
  for (const int rows : {down, 1 + static_cast<int>(number % static_cast<std::uint64_t>(down))}) {
    bool sound = false;
    const std::string difference = comparison.difference(input, *header, rows, stretch, sound);
    require_that(difference.empty(), difference);
  }
}

const AnnounceFuzzTarget kTarget({.name = "jpeg_walk", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
