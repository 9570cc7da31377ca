// Arrays of numpy's, and images that are stored as such.
#include "stoker/codec/npy.h"

#include <algorithm>
#include <span>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/codec/raw_decoder.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {
namespace {

// Its beginning says the same as all of it, and what it says fills it.
void run_layout(Bytes input) {
  ArrayLayout layout;
  if (!accepts({ErrorKind::kBadSample}, [&] { layout = read_npy_layout(input, input.size()); })) return;
  require_that(layout.offset <= kNpyHeaderBytesMax && layout.offset + layout.bytes() == input.size(),
               "an array fills its field");
  const Bytes beginning = input.first(std::min(input.size(), kNpyHeaderBytesMax));
  require_that(read_npy_layout(beginning, input.size()) == layout, "a beginning is enough");
  if (layout.bytes() > (std::uint64_t{1} << 16)) return;
  Recipe recipe;
  const std::vector<double> size(std::max<std::size_t>(layout.shape.rank(), 1), 3);
  recipe.view("image", "x.npy").decode_array().array_crop(size).array_flip({-1}).array_standardize();
  const Plan plan(recipe);
  CpuExecutor executor(plan);
  const SampleInput sample{.fields = std::span(&input, 1), .draw = {.seed = 1}};
  require_that(run_one(executor, sample)[0].spec.shape.rank() == size.size(), "a crop has the array's axes");
}

void run(Bytes input) {
  run_layout(input);
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
