#include "stoker/plan/reference_picture.h"

#include "stoker/ops/picture/picture_meaning.h"

namespace stoker {
std::vector<std::uint8_t> reference_picture(std::vector<std::uint8_t> picture, const PictureChain& chain,
                                            const WarpedSampling& sampling, const SampleDraw& draw) {
  const ImageSize size = sampling.size;
  PictureSteps drawn;
  chain.draw(size, draw, drawn, sampling.steps());
  const PictureLayout layout(chain.bounds(), size);
  ImageSize in = {sampling.map.width(), sampling.map.height()};
  std::vector<std::uint8_t> more(layout.bytes);  // what is kept, and the work
  std::span<const PictureStep> steps = drawn.all();
  while (!steps.empty()) {
    const int length = pass_length(steps);
    std::vector<std::uint8_t> made = picture;
    made.resize(3 * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
    PictureFacts facts{};
    const PicturePass pass = {.steps = steps.data(),
                              .count = length,
                              .facts = &facts,
                              .in = picture.data(),
                              .out = made.data(),
                              .kept = more.data() + layout.kept,
                              .kept_stride = layout.picture,
                              .work = more.data() + layout.work,
                              .scratch = nullptr,
                              .width = size.width,
                              .height = size.height,
                              .in_width = in.width,
                              .in_height = in.height};
    compute_plainly(pass);
    picture = made;
    in = size;
    steps = steps.subspan(static_cast<std::size_t>(length));
  }
  return picture;
}

}  // namespace stoker
