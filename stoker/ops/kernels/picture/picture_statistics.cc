#include "stoker/ops/kernels/picture/picture_statistics.h"

#include <cstring>
#include <numeric>

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

void count_picture(const PicturePass& pass, PictureStatistic statistic, PictureStatistics& statistics) {
  const std::ptrdiff_t pixels = pass.pixels();
  for (int c = 0; c < 3; ++c) {
    const std::uint8_t* const plane = pass.in + c * pixels;
    if (statistic == PictureStatistic::kHistograms) count_plane(plane, pixels, statistics.counts[c]);
    statistics.sums[c] = std::accumulate(plane, plane + pixels, std::uint64_t{0});
  }
}

}  // namespace stoker
