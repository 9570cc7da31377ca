#include "stoker/codec/jpeg/scan_walker_testing.h"

#include <fmt/format.h>

namespace stoker {
namespace {

// Symbol by symbol, from the beginning.
std::optional<EntryPoints> plain_walk(const JpegHeader& header, const JpegTables& tables, const ScanBytes& scan,
                                      int rows) {
  const McuGrid grid(header);
  const SegmentGrid segments(grid, header.restart_interval);
  EntryPoints points;
  EntryPoint at;
  std::size_t restarts = 0;
  std::int64_t mcu = 0;
  const auto end = [&] { return restarts < scan.restarts().size() ? scan.restarts()[restarts] : scan.size(); };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0, mcus = 0; column < grid.across; column += mcus) {
      mcus = segments.mcus(column, row);
      if (mcu > 0 && header.restart_interval > 0 && mcu % header.restart_interval == 0) {
        if (restarts == scan.restarts().size() || (at.bit + 7) / 8 != end()) return {};
        at = {.bit = std::uint64_t{8} * scan.restarts()[restarts++], .dc = {}};
      }
      points.push_back(at);
      mcu += mcus;
      for (int block = 0; block < mcus * grid.blocks; ++block) {
        const auto component = static_cast<std::size_t>(grid.component[static_cast<std::size_t>(block % grid.blocks)]);
        for (int position = 0; position < 64;) {
          const int table = 2 * tables.pair_of(static_cast<int>(component)) + (position > 0);
          const JpegSymbol symbol = tables.decode_rare(table, load_bits(scan.data(), at.bit));
          if (!symbol.good) return {};
          if (position == 0) {
            const int dc = at.dc[component] + symbol.value;
            if (dc != static_cast<std::int16_t>(dc)) return {};
            at.dc[component] = static_cast<std::int16_t>(dc);
          }
          at.bit += static_cast<std::uint64_t>(symbol.length);
          position = symbol.to_end ? 64 : position + symbol.run + 1;
          if (position > 64) return {};
        }
        if (at.bit > std::uint64_t{8} * end()) return {};
      }
    }
  }
  points.push_back(at);
  const bool whole = rows == grid.down;
  if (whole && ((at.bit + 7) / 8 != scan.size() || restarts != scan.restarts().size())) return {};
  return points;
}

}  // namespace

std::string WalkComparison::difference(Bytes encoded, const JpegHeader& header, int rows, const WalkStretch& stretch,
                                       bool& sound) {
  tables_.build(header);
  scan_.read(encoded, header.scan_begin, header.restart_interval > 0);
  const std::optional<EntryPoints> want = plain_walk(header, tables_, scan_, rows);
  sound = want.has_value();
  EntryPoints points;
  const bool found = ScanWalker(stretch).walk(header, McuGrid(header), tables_, scan_, rows, points);
  if (found != sound) return sound ? "finds a fault where there is none" : "finds no fault";
  if (!sound) return "";
  if (points.size() != want->size()) return fmt::format("{} points, not {}", points.size(), want->size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].bit != (*want)[i].bit)
      return fmt::format("point {}: bit {}, not {}", i, points[i].bit, (*want)[i].bit);
    if (points[i].dc != (*want)[i].dc) return fmt::format("point {}: other DC coefficients", i);
  }
  return "";
}

}  // namespace stoker
