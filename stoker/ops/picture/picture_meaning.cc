#include "stoker/ops/picture/picture_meaning.h"

namespace stoker {

void compute_plainly(const PicturePass& pass) {
  const PictureStatistic statistic = statistic_of({pass.steps, static_cast<std::size_t>(pass.count)});
  if (statistic != PictureStatistic::kNone) {
    PictureStatistics statistics{};
    for (int c = 0; c < 3; ++c) {
      for (std::ptrdiff_t i = 0; i < pass.pixels(); ++i) {
        const int value = counted_value(pass, statistic, i, c);
        statistics.sums[c] += static_cast<std::uint64_t>(value);
        ++statistics.counts[c][value];
      }
    }
    find_facts(pass, statistics, 0, 1);
  }
  compute_units(pass);
}

}  // namespace stoker
