// Entry points that lie. The first byte says how many there are; ten bytes make up each: where it is, and three DC
// values. A JPEG follows.
#include <optional>

#include "fuzz/fuzz_target.h"
#include "fuzz/jpeg_way.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kPointBytes = 10;
constexpr int kPixelsMax = 1 << 14;

void run(Bytes input) {
  if (input.empty() || input.size() - 1 < kPointBytes * input[0]) return;
  EntryPoints points(input[0]);
  const std::uint8_t* from = input.data() + 1;
  for (EntryPoint& point : points) {
    point.bit = load_little_endian<std::uint32_t>(from);
    from += 4;
    for (std::int16_t& dc : point.dc) {
      dc = static_cast<std::int16_t>(load_little_endian<std::uint16_t>(from));
      from += 2;
    }
  }
  const Bytes encoded = input.subspan(1 + kPointBytes * points.size());
  const std::optional<JpegHeader> header = parse_jpeg_header(encoded);
  if (!header || header->width > kPixelsMax / header->height) return;
  const std::uint64_t number = hash64(input);
  select_some_way(number / 3);

  // A window into which each segment leads from one that is known to be right: nothing gets by.
  const Rect whole{0, 0, header->width, header->height};
  JpegPlaneDecoder own;
  if (const std::optional<Planes> planes = own.decode(encoded, *header, whole, &points)) {
    require_that(covers(*planes, whole), "planes hold what was asked for");
    LibjpegDecoder library;
    std::optional<Planes> want;
    // A file that libjpeg gives up on is bad for every decoder: no index has entry points of it.
    if (accepts({ErrorKind::kBadSample}, [&] {
          const ImageFacts facts = library.read_facts(encoded);
          want = library.decode_planes(encoded, facts, whole);
        })) {
      require_that(planes_difference(*planes, *want).empty(), "what was decoded to all its ends is right");
    }
  }
  // Where a window begins or ends in the midst of a row, a lie may show wrong pixels: in their place, at least.
  const int x = static_cast<int>(number % 127) % header->width, y = static_cast<int>(number % 131) % header->height;
  const Rect window{x, y, 1 + (header->width - x) / 2, 1 + (header->height - y) / 2};
  if (const std::optional<Planes> planes = own.decode(encoded, *header, window, &points)) {
    require_that(covers(*planes, window), "planes hold what was asked for");
  }
}

const AnnounceFuzzTarget kTarget({.name = "jpeg_entry_points", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
