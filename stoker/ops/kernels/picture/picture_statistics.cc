#include "stoker/ops/kernels/picture/picture_statistics.h"

#include <algorithm>
#include <iterator>

namespace stoker {
namespace {

// Four tables, since neighbouring values are often the same: an increment would wait for the one before it.
void count_plane(const std::uint8_t* plane, std::ptrdiff_t pixels, std::uint32_t (&counts)[256]) {
  std::uint32_t part[4][256] = {};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= pixels; i += 4) {
    for (int k = 0; k < 4; ++k) ++part[k][plane[i + k]];
  }
  for (; i < pixels; ++i) ++part[0][plane[i]];
  for (int v = 0; v < 256; ++v) counts[v] = part[0][v] + part[1][v] + part[2][v] + part[3][v];
}

}  // namespace

void count_picture(const PicturePass& pass, PictureStatistic statistic, const PictureKernels& kernels,
                   PictureStatistics& statistics) {
  const std::ptrdiff_t pixels = pass.pixels();
  switch (statistic) {
    case PictureStatistic::kNone:
    case PictureStatistic::kNothing: return;
    case PictureStatistic::kMeans:
      for (int c = 0; c < 3; ++c) statistics.sums[c] = kernels.sum(pass.in + c * pixels, pixels);
      return;
    case PictureStatistic::kGreyMean: statistics.sums[0] = kernels.grey_sum(pass.in, pixels); return;
    case PictureStatistic::kExtremes:
      for (int c = 0; c < 3; ++c) {
        const auto [least, most] = kernels.extremes(pass.in + c * pixels, pixels);
        std::fill(std::begin(statistics.counts[c]), std::end(statistics.counts[c]), 0U);
        statistics.counts[c][least] = statistics.counts[c][most] = 1;
      }
      return;
    case PictureStatistic::kHistograms:
      for (int c = 0; c < 3; ++c) count_plane(pass.in + c * pixels, pixels, statistics.counts[c]);
      return;
  }
}

}  // namespace stoker
