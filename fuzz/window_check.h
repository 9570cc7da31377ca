// What holds of every codec that decodes a window of an image: it is what it is in the whole image, and whether a file
// is bad does not depend on it.
#pragma once

#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/base/error.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

template <typename Decoder>
void check_windows(Bytes input) {
  constexpr int kPixelsMax = 1 << 16;
  Decoder decoder;
  ImageFacts facts;
  if (!accepts({ErrorKind::kBadSample}, [&] { facts = decoder.read_facts(input); })) return;
  require_that(facts.width >= 1 && facts.height >= 1, "an image has pixels");
  if (facts.width > kPixelsMax / facts.height) return;

  const Rect all{0, 0, facts.width, facts.height};
  const Rect part{facts.width / 2, facts.height / 2, (facts.width + 1) / 2, (facts.height + 1) / 2};
  const auto decode = [&](Rect window, std::vector<std::uint8_t>& into) {
    return accepts({ErrorKind::kBadSample}, [&] {
      const ImageView view = decoder.decode_rgb(input, facts, window);
      for (int y = part.y - window.y; y < part.y - window.y + part.height; ++y) {
        for (int x = part.x - window.x; x < part.x - window.x + part.width; ++x) {
          for (int c = 0; c < 3; ++c) into.push_back(*view.at(x, y, c));
        }
      }
    });
  };
  std::vector<std::uint8_t> from_all, alone;
  require_that(decode(all, from_all) == decode(part, alone), "being bad does not depend on the window");
  require_that(from_all == alone, "a window has the pixels of the whole image");
}

}  // namespace stoker
