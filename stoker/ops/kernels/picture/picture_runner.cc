#include "stoker/ops/kernels/picture/picture_runner.h"

#include <cassert>
#include <utility>

#include "stoker/ops/kernels/picture/picture_kernels.h"
#include "stoker/ops/kernels/picture/picture_statistics.h"
#include "stoker/ops/picture/picture_meaning.h"

namespace stoker {
const std::uint8_t* PictureRunner::run(std::span<const PictureStep> steps, ImageSize size, const PictureLayout& layout,
                                       std::uint8_t* memory) {
  const PictureKernels& kernels = picture_kernels();
  ImageSize in = layout.begin;
  assert(in == size || steps.front().kind == PictureKind::kWarp);
  std::uint8_t *picture = memory, *other = memory + layout.picture;
  while (!steps.empty()) {
    const std::span<const PictureStep> now = steps.first(static_cast<std::size_t>(pass_length(steps)));
    const bool moves = traits_of(now.front().kind).reads_around;
    const PicturePass pass = {.steps = now.data(),
                              .count = static_cast<int>(now.size()),
                              .facts = &facts_,
                              .in = picture,
                              .out = moves ? other : picture,
                              .kept = memory + layout.kept,
                              .kept_stride = layout.picture,
                              .work = memory + layout.work,
                              .scratch = memory + layout.scratch,
                              .width = size.width,
                              .height = size.height,
                              .in_width = in.width,
                              .in_height = in.height};
    if (const PictureStatistic statistic = statistic_of(now); statistic != PictureStatistic::kNone) {
      count_picture(pass, statistic, kernels, statistics_);
      find_facts(pass, statistics_, 0, 1);
    }
    if (const PictureKernels::Pass kernel = kernels[now.front().kind]) {
      kernel(pass);
    } else {
      compute_units(pass);
    }
    in = size;
    if (moves) std::swap(picture, other);
    steps = steps.subspan(now.size());
  }
  return picture;
}

}  // namespace stoker
