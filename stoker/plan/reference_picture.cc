#include "stoker/plan/reference_picture.h"

#include "stoker/ops/picture/picture_meaning.h"

namespace stoker {
namespace {

// All of what any step may ask for.
PictureStatistics count(const std::vector<std::uint8_t>& picture) {
  PictureStatistics statistics{};
  const std::size_t pixels = picture.size() / 3;
  for (std::size_t i = 0; i < picture.size(); ++i) {
    statistics.sums[i / pixels] += picture[i];
    ++statistics.counts[i / pixels][picture[i]];
  }
  return statistics;
}

}  // namespace

std::vector<std::uint8_t> reference_picture(std::vector<std::uint8_t> picture, const PictureChain& chain,
                                            ImageSize size, const SampleDraw& draw) {
  PictureSteps drawn;
  chain.draw(size, draw, drawn);
  const PictureLayout layout(chain.bounds(), size);
  std::vector<std::uint8_t> more(layout.bytes);  // what is kept, and the work
  std::span<const PictureStep> steps = drawn.all();
  while (!steps.empty()) {
    const int length = pass_length(steps);
    std::vector<std::uint8_t> made = picture;
    PictureFacts facts;
    const PicturePass pass = {.steps = steps.data(),
                              .count = length,
                              .facts = &facts,
                              .in = picture.data(),
                              .out = made.data(),
                              .kept = more.data() + layout.kept,
                              .kept_stride = layout.picture,
                              .work = more.data() + layout.work,
                              .width = size.width,
                              .height = size.height};
    const PictureStatistics statistics = count(picture);
    for (int c = 0; c < 3; ++c) find_facts(pass, statistics, c);
    const int unit = traits_of(steps.front().kind).unit;
    for (int y = 0; y < size.height; y += unit) {
      for (int x = 0; x < size.width; x += unit) compute_unit(pass, x, y);
    }
    picture = made;
    steps = steps.subspan(static_cast<std::size_t>(length));
  }
  return picture;
}

}  // namespace stoker
