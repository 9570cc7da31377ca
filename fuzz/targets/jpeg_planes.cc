// The own JPEG decoder against libjpeg: what it accepts libjpeg accepts, and its samples and pixels are libjpeg's.
#include <algorithm>

#include <optional>

#include "fuzz/fuzz_target.h"
#include "fuzz/jpeg_way.h"
#include "stoker/base/hash.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/markers.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/codec/jpeg/rgb_of_planes.h"
#include "stoker/tensor/image_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

constexpr int kPixelsMax = 1 << 14;

/// Anywhere in the image: numbers that come from the input.
Rect some_window(const JpegHeader& header, std::uint64_t numbers) {
  const auto below = [&numbers](int count) {
    const auto number = static_cast<int>(numbers % 251) % count;
    numbers /= 251;
    return number;
  };
  const int x = below(header.width), y = below(header.height);
  return {x, y, 1 + below(header.width - x), 1 + below(header.height - y)};
}

void run(Bytes input) {
  const std::optional<JpegHeader> header = parse_jpeg_header(input);
  if (!header || header->width > kPixelsMax / header->height) return;
  const std::uint64_t numbers = hash64(input);
  select_some_way(numbers / 3);

  LibjpegDecoder library;
  ImageFacts facts;
  const bool accepted = accepts({ErrorKind::kBadSample}, [&] { facts = library.read_facts(input); });
  require_that(accepted == has_jpeg_end(input, header->scan_begin), "libjpeg accepts a header that is accepted here");
  require_that(!accepted || facts == header->facts(), "facts are what libjpeg says");

  // All that libjpeg shows is in `want`; what is not a whole file, it may refuse.
  const Rect whole{0, 0, header->width, header->height}, window = some_window(*header, numbers);
  Planes want;
  const bool shown =
      accepted && accepts({ErrorKind::kBadSample}, [&] { want = library.decode_planes(input, facts, whole); });
  JpegPlaneDecoder own;
  RgbOfPlanes rgb;
  LibjpegDecoder pixels;  // beside the library's planes, which stay
  EntryPoints points;
  const bool sound = own.find_entry_points(input, *header, points);
  for (const Rect& asked : {whole, window}) {
    const std::optional<Planes> walked = own.decode(input, *header, asked);
    if (walked && accepted) {
      require_that(shown, "libjpeg shows what is shown here");
      require_that(covers(*walked, asked), "planes hold what was asked for");
      require_that(planes_difference(*walked, want).empty(), "samples are libjpeg's");
    }
    if (walked && accepted && makes_rgb_of(*walked)) {
      require_that(first_difference(rgb.convert(*walked, asked), pixels.decode_rgb(input, facts, asked)).empty(),
                   "pixels are libjpeg's");
    }
    const int shrink = 2 << numbers % 3;
    const std::optional<Planes> smaller = own.decode(input, *header, asked, nullptr, shrink);
    require_that(smaller.has_value() == walked.has_value(), "a file is sound at any size");
    if (smaller && accepted) {
      require_that(planes_difference(*smaller, pixels.decode_planes(input, facts, whole, {}, shrink)).empty(),
                   "samples of the smaller image are libjpeg's");
    }
    if (!sound) continue;
    require_that(walked.has_value(), "a file that is sound is decoded");
    const std::optional<Planes> found = own.decode(input, *header, asked, &points);
    require_that(found.has_value(), "a file that is sound is decoded by its entry points");
    require_that(covers(*found, asked), "planes by entry points hold what was asked for");
    require_that(planes_difference(*found, want).empty(), "samples by entry points are libjpeg's");
  }
  if (!sound) return;
  std::vector<std::uint8_t> none;
  require_that(accepted && library.decodes_cleanly(input, facts, none),
               "libjpeg finds no fault in a file that is sound");
  std::vector<std::uint8_t> packed;
  pack_entry_points(points, input.size(), packed);
  EntryPoints again;
  require_that(unpack_entry_points(packed, input.size(), entry_point_count(*header), again),
               "entry points can be kept");
  const auto same = [](const EntryPoint& a, const EntryPoint& b) { return a.bit == b.bit && a.dc == b.dc; };
  require_that(std::equal(points.begin(), points.end(), again.begin(), again.end(), same),
               "and come back as they were");
}

const AnnounceFuzzTarget kTarget({.name = "jpeg_planes", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
