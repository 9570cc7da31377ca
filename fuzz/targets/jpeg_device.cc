// Decoding on a device beside the CPU. The first byte says how many changes there are; eight bytes make up each: a
// place and a value. A JPEG follows. Where that is sound, the changes damage what crosses to the device; where it is
// not, they are taken for entry points, and what comes of them is to be the same on both sides.
#include <cstring>
#include <optional>

#include "fuzz/fuzz_target.h"
#include "fuzz/jpeg_way.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/jpeg/device_decode_testing.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kChangeBytes = 8;
constexpr int kPixelsMax = 1 << 14;

struct Change {
  std::uint32_t place, value;
};

EntryPoints taken_for_points(const std::vector<Change>& changes) {
  EntryPoints points;
  for (const Change& change : changes) {
    const auto dc = static_cast<std::int16_t>(change.value);
    points.push_back({.bit = change.place, .dc = {dc, static_cast<std::int16_t>(change.value >> 16), dc}});
  }
  return points;
}

void damage(MutableBytes coded, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const std::size_t at = change.place % (coded.size() - sizeof(change.value) + 1);
    std::memcpy(coded.data() + at, &change.value, sizeof(change.value));
  }
}

void run(Bytes input) {
  if (input.empty() || input.size() - 1 < kChangeBytes * input[0]) return;
  std::vector<Change> changes(input[0]);
  const std::uint8_t* from = input.data() + 1;
  for (Change& change : changes) {
    change = {load_little_endian<std::uint32_t>(from), load_little_endian<std::uint32_t>(from + 4)};
    from += kChangeBytes;
  }
  const Bytes encoded = input.subspan(1 + kChangeBytes * changes.size());
  const std::optional<JpegHeader> header = parse_jpeg_header(encoded);
  if (!header || header->width > kPixelsMax / header->height) return;
  const std::uint64_t number = hash64(input);
  select_some_way(number / 3);

  JpegPlaneDecoder own;
  EntryPoints points;
  const bool sound = own.find_entry_points(encoded, *header, points);
  if (!sound) points = taken_for_points(changes);

  const int x = static_cast<int>(number % 127) % header->width, y = static_cast<int>(number % 131) % header->height;
  const Rect part{x, y, 1 + (header->width - x) / 2, 1 + (header->height - y) / 2};
  static FencedJpegs on_device;  // a gigabyte of addresses
  on_device.clear();
  const auto fence = number % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore;
  const auto order = static_cast<std::uint32_t>(number % 3);
  int images = 0;
  for (const Rect window : {part, Rect{0, 0, header->width, header->height}}) {
    if (const std::optional<JpegWindow> found = own.find_window(encoded, *header, window, points)) {
      on_device.add(*found, fence);
      ++images;
    }
  }
  require_that(images == 2 || !sound, "a sound file's entry points lead to every window");
  if (images < 2) return;

  on_device.run(order);
  const std::optional<Planes> whole = own.decode(encoded, *header, {0, 0, header->width, header->height}, &points);
  require_that(whole.has_value() || !sound, "what the walk found sound is decoded");
  require_that(whole.has_value() != on_device.faulty(1), "both sides find it sound, or neither does");
  require_that(!sound || !on_device.faulty(0), "no part of a sound image is faulty");
  if (whole) require_that(planes_difference(on_device.planes(1), *whole).empty(), "both sides make the same samples");
  if (sound) require_that(planes_difference(on_device.planes(0), *whole).empty(), "so they do of a part");
  require_that(on_device.kept_to_blocks(0) && on_device.kept_to_blocks(1), "nothing stands beside blocks");

  // The part is damaged; the whole is as it was.
  damage(on_device.coded(0), changes);
  on_device.run(order);
  require_that(on_device.kept_to_blocks(0) && on_device.kept_to_blocks(1), "nothing stands beside damaged blocks");
  require_that(whole.has_value() != on_device.faulty(1), "damage is the image's own");
  if (whole) require_that(planes_difference(on_device.planes(1), *whole).empty(), "damage changes no other image");
}

const AnnounceFuzzTarget kTarget({.name = "jpeg_device", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
