#include "stoker/codec/jpeg/scan_walker.h"

#include <limits>

namespace stoker {
namespace {

// Keeps the next bits at hand: refilling does not wait for the look-ups of those before.
struct BitReader {
  static constexpr int kBitsMin = 56;  // after a refill

  const std::uint8_t* next;
  std::uint64_t bits = 0;
  std::uint32_t count = 0;  // of bits that are there; those below them are of the next byte already

  void refill() {
    bits |= load_bits(next, 0) >> count;
    next += (63 - count) / 8;
    count |= kBitsMin;
  }
  void take(std::uint32_t taken) {
    bits <<= taken;
    count -= taken;
  }
};

class Walk {
 public:
  Walk(const JpegHeader& header, const McuGrid& grid, const JpegTables& tables, const ScanBytes& scan)
      : header_(header),
        grid_(grid),
        tables_(tables),
        scan_(scan),
        entries_(tables.entries()),
        skips_(tables.skips()),
        segments_(grid, header.restart_interval),
        reader_{scan.data()} {
    find_end();
  }

  bool run(int rows, EntryPoints& points) {
    points.clear();
    std::int64_t mcu = 0;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < grid_.across;) {
        if (mcu > 0 && header_.restart_interval > 0 && mcu % header_.restart_interval == 0 && !restart()) return false;
        points.push_back(point());
        const int mcus = segments_.mcus(column, row);
        for (int i = 0; i < mcus; ++i) {
          if (!pass_mcu()) return false;
        }
        column += mcus;
        mcu += mcus;
      }
    }
    points.push_back(point());
    const bool whole = rows == grid_.down;
    return !whole || (ends_at(scan_.size()) && restarts_seen_ == scan_.restarts().size());
  }

 private:
  EntryPoint point() const {
    EntryPoint point{.bit = bit(), .dc = {}};
    for (std::size_t c = 0; c < point.dc.size(); ++c) point.dc[c] = static_cast<std::int16_t>(dc_[c]);
    return point;
  }

  // Bits passed so far.
  std::uint64_t bit() const {
    return std::uint64_t{8} * static_cast<std::uint64_t>(reader_.next - scan_.data()) - reader_.count;
  }
  // Less than a byte is left before this one, which begins an interval or ends the scan.
  bool ends_at(std::size_t byte) const { return (bit() + 7) / 8 == byte; }

  bool restart() {
    if (restarts_seen_ == scan_.restarts().size() || !ends_at(scan_.restarts()[restarts_seen_])) return false;
    reader_ = {scan_.data() + scan_.restarts()[restarts_seen_++]};
    dc_ = {};
    find_end();
    return true;
  }
  // Of the interval: libjpeg reads zeros there.
  void find_end() {
    const bool last = restarts_seen_ == scan_.restarts().size();
    end_ = std::uint64_t{8} * (last ? scan_.size() : scan_.restarts()[restarts_seen_]);
  }

  bool pass_mcu() {
    for (int block = 0; block < grid_.blocks; ++block) {
      if (!pass_block(grid_.component[static_cast<std::size_t>(block)]) || bit() > end_) return false;
    }
    return true;
  }

  bool pass_block(int component) {
    const int pair = tables_.pair_of(component);
    reader_.refill();
    const RareSymbol symbol = next_symbol(2 * pair);
    int& dc = dc_[static_cast<std::size_t>(component)];
    dc += symbol.value;
    using Dc = std::numeric_limits<std::int16_t>;
    return symbol.good && dc >= Dc::min() && dc <= Dc::max() && pass_coefficients(pair);
  }

  bool pass_coefficients(int pair) {
    const SkipEntry* const skips = skips_ + static_cast<std::uint32_t>(pair) * JpegTables::kTableSize;
    std::uint32_t position = 1;
    for (;;) {
      reader_.refill();
      for (int i = 0; i < kSkipsPerLoad; ++i) {
        const SkipEntry skip = skips[reader_.bits >> (64 - kFirstBits)];
        const std::uint32_t moved = position + skip_positions(skip);
        if (skip == 0 || moved > 63) [[unlikely]] {  // the block may end between two symbols
          const RareSymbol symbol = next_symbol(2 * pair + 1);
          if (!symbol.good) return false;
          position = (symbol.to_end ? position | 63 : position) + static_cast<std::uint32_t>(symbol.run) + 1;
          if (position >= 64) return position == 64;
          break;
        }
        reader_.take(skip_length(skip));
        if (skip & kSkipEndsBlock) return true;
        position = moved;
      }
    }
  }

  RareSymbol next_symbol(int table) {
    const HuffmanEntry entry =
        look_up(entries_, static_cast<std::uint32_t>(table) * JpegTables::kTableSize, reader_.bits);
    RareSymbol symbol{.good = true,
                      .length = static_cast<int>(entry_length(entry)),
                      .run = static_cast<int>(entry_run(entry)),
                      .to_end = entry_to_end(entry) != 0,
                      .value = value_of(entry, reader_.bits)};
    if (entry & kSpecialEntry) [[unlikely]]
      symbol = tables_.decode_rare(table, reader_.bits);
    reader_.take(static_cast<std::uint32_t>(symbol.length));
    return symbol;
  }

  static constexpr int kSkipsPerLoad = 2;
  static_assert((kSkipsPerLoad - 1) * kShortSymbolBits + kSymbolBitsMax <= BitReader::kBitsMin);

  const JpegHeader& header_;
  const McuGrid& grid_;
  const JpegTables& tables_;
  const ScanBytes& scan_;
  const HuffmanEntry* const entries_;
  const SkipEntry* const skips_;
  const SegmentGrid segments_;
  BitReader reader_;
  std::uint64_t end_ = 0;
  std::array<int, 3> dc_{};
  std::size_t restarts_seen_ = 0;
};

}  // namespace

bool walk_scan(const JpegHeader& header, const McuGrid& grid, JpegTables& tables, const ScanBytes& scan, int rows,
               EntryPoints& points) {
  tables.build_skips();
  return Walk(header, grid, tables, scan).run(rows, points);
}

}  // namespace stoker
