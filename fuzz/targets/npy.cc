// Images that are stored as npy arrays.
#include "stoker/codec/npy.h"
#include "fuzz/fuzz_target.h"
#include "stoker/codec/raw_decoder.h"

namespace stoker {
namespace {

void run(Bytes input) {
  NpyPixels pixels;
  if (!accepts({ErrorKind::kBadSample}, [&] { pixels = read_npy_header(input); })) return;
  require_that(pixels.width >= 1 && pixels.height >= 1, "an array has pixels");
  require_that(pixels.channels == 1 || pixels.channels == 3 || pixels.channels == 4, "channels are 1, 3 or 4");

  RawDecoder decoder;
  ImageView view;
  const auto decode = [&] {
    view = decoder.decode_rgb(input, decoder.read_facts(input), {0, 0, pixels.width, pixels.height});
  };
  if (!accepts({ErrorKind::kBadSample, ErrorKind::kLimit}, decode)) return;
  std::size_t at = pixels.data_offset;
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x, at += static_cast<std::size_t>(pixels.channels)) {
      for (int channel = 0; channel < 3; ++channel) {
        const std::size_t from = at + (pixels.channels == 1 ? 0 : static_cast<std::size_t>(channel));
        require_that(*view.at(x, y, channel) == input[from], "a pixel is where its place in the array says");
      }
    }
  }
  require_that(at == input.size(), "pixels fill the array");

  std::vector<std::uint8_t> encoded;
  encode_npy(view, encoded);
  const NpyPixels again = read_npy_header(encoded);
  require_that(again.width == view.width && again.height == view.height && again.channels == 3,
               "an array that was written is read as it was");
}

const AnnounceFuzzTarget kTarget({.name = "npy", .run = run});

}  // namespace
}  // namespace stoker
