#include "stoker/codec/jpeg/scan_walker.h"

#include <algorithm>
#include <array>
#include <optional>

#include "stoker/codec/jpeg/walkers.h"

namespace stoker {
namespace {

constexpr std::size_t kStartsMax = walk_starts_max(std::uint64_t{8} * WalkStretch::kLongest);
constexpr int kTries = 32;

// Takes the blocks of an interval in their order, by where they begin: adds up their DC coefficients, and notes the
// segments.
class BlockChain {
 public:
  BlockChain(const McuGrid& grid, const SegmentGrid& segments, const JpegTables& tables, const ScanBytes& scan,
             EntryPoints& points)
      : grid_(grid), segments_(segments), tables_(tables), scan_(scan.data()), points_(points) {
    for (int c = 0; c < 3; ++c) dc_tables_[static_cast<std::size_t>(c)] = 2 * tables.pair_of(c);
  }

  /// The next blocks are those of so many MCUs, up to this bit at most: libjpeg reads zeros there.
  void begin_interval(std::int64_t mcus, std::uint64_t end) {
    left_ = mcus * grid_.blocks;
    end_ = end;
    dc_ = {};
    good_ = true;
  }

  /// Blocks begin at these bits; after the last one that is wanted the end is. False where that was reached, or a block
  /// is not sound.
  bool take(const std::uint64_t* begin, const std::uint64_t* end) {
    std::array<int, 3> dc = dc_;
    bool good = true;
    int block = block_;
    const std::uint64_t* const last = end - begin > left_ ? begin + left_ : end;
    for (const std::uint64_t* start = begin; start < last && good; ++start) {
      if (block == 0 && mcus_left_-- == 0) begin_segment(*start, dc);
      const auto component = static_cast<std::size_t>(grid_.component[static_cast<std::size_t>(block)]);
      const JpegSymbol symbol = tables_.decode(dc_tables_[component], load_bits(scan_, *start));
      const int value = dc[component] += symbol.value;
      good = *start <= end_ && symbol.good && value == static_cast<std::int16_t>(value);
      if (++block == grid_.blocks) block = 0;
    }
    left_ -= last - begin;
    block_ = block;
    dc_ = dc;
    const bool ended = last < end;
    if (ended || last > begin) reached_ = ended ? *last : last[-1];
    good_ = good && reached_ <= end_;
    return good_ && !ended;
  }

  /// Those whose beginning was not taken yet; 0 also where the end was not.
  std::int64_t left() const { return left_; }
  /// Of the next one's in its MCU.
  int block() const { return block_; }
  bool good() const { return good_; }
  void fail() { good_ = false; }
  /// The bit that was taken last.
  std::uint64_t reached() const { return reached_; }
  /// An entry point where the last one of all ends.
  void end() { note(reached_, dc_); }

 private:
  void note(std::uint64_t bit, const std::array<int, 3>& dc) {
    EntryPoint point{.bit = bit, .dc = {}};
    for (std::size_t c = 0; c < point.dc.size(); ++c) point.dc[c] = static_cast<std::int16_t>(dc[c]);
    points_.push_back(point);
  }
  void begin_segment(std::uint64_t bit, const std::array<int, 3>& dc) {
    note(bit, dc);
    const int mcus = segments_.mcus(column_, row_);
    mcus_left_ = mcus - 1;
    column_ += mcus;
    if (column_ < grid_.across) return;
    column_ = 0;
    ++row_;
  }

  const McuGrid& grid_;
  const SegmentGrid& segments_;
  const JpegTables& tables_;
  const std::uint8_t* const scan_;
  EntryPoints& points_;
  std::array<int, 3> dc_tables_{};
  std::int64_t left_ = 0;
  std::uint64_t end_ = 0, reached_ = 0;
  std::array<int, 3> dc_{};
  bool good_ = true;
  int block_ = 0;             // of the next one in its MCU
  int mcus_left_ = 0;         // of the segment, to begin
  int row_ = 0, column_ = 0;  // of the next segment
};

class Walk {
 public:
  Walk(const JpegHeader& header, const McuGrid& grid, const JpegTables& tables, const ScanBytes& scan,
       const WalkStretch& limits, std::uint64_t* starts, EntryPoints& points)
      : header_(header),
        grid_(grid),
        scan_(scan),
        limits_(limits),
        phases_(grid, tables),
        segments_(grid, header.restart_interval),
        chain_(grid, segments_, tables, scan, points) {
    for (std::size_t i = 0; i < kWalkersMax; ++i) walkers_[i].starts = starts + i * kStartsMax;
    // If all blocks are coded alike, a walker that takes one for another never sees its mistake.
    const auto first = grid.component.begin();
    alone_ = grid.blocks > 1 && std::all_of(first, first + grid.blocks, [&](int component) {
               return tables.pair_of(component) == tables.pair_of(*first);
             });
  }

  bool run(int rows) {
    const std::int64_t mcus = std::int64_t{rows} * grid_.across, all = std::int64_t{grid_.down} * grid_.across;
    const std::int64_t interval = header_.restart_interval > 0 ? header_.restart_interval : all;
    const std::vector<std::uint32_t>& restarts = scan_.restarts();
    std::size_t passed = 0;  // restarts
    for (std::int64_t mcu = 0; mcu < mcus; mcu += interval) {
      if (mcu > 0 && (passed == restarts.size() || !ends_at(restarts[passed++]))) return false;
      const std::size_t begin = mcu > 0 ? restarts[passed - 1] : 0;
      const std::size_t end = passed == restarts.size() ? scan_.size() : restarts[passed];
      const std::int64_t here = std::min(interval, all - mcu);
      if (!walk_interval(begin, end, here, std::min(here, mcus - mcu))) return false;
    }
    chain_.end();
    return mcus < all || (ends_at(scan_.size()) && passed == restarts.size());
  }

 private:
  // Less than a byte is left before this one, which begins an interval or ends the scan.
  bool ends_at(std::size_t byte) const { return (chain_.reached() + 7) / 8 == byte; }

  // The first `wanted` MCUs of an interval that has so many.
  bool walk_interval(std::size_t begin, std::size_t end, std::int64_t mcus, std::int64_t wanted) {
    chain_.begin_interval(wanted, std::uint64_t{8} * end);
    const std::int64_t blocks = mcus * grid_.blocks, unwanted = blocks - wanted * grid_.blocks;
    walkers_[0].begin(std::uint64_t{8} * begin, phases_);
    bool more = true;
    while (more) {
      // As many bytes as the wanted part of the blocks that are left.
      const auto bytes = static_cast<double>(std::int64_t{8} * static_cast<std::int64_t>(end) -
                                             static_cast<std::int64_t>(walkers_[0].bit)) /
                         8;
      const auto left = static_cast<double>(chain_.left());
      more = walk_on(static_cast<std::int64_t>(bytes * left / std::max(1.0, left + static_cast<double>(unwanted))));
    }
    return chain_.good();
  }

  // Over about so many bytes. False if that was the last of the interval.
  bool walk_on(std::int64_t bytes) {
    const int count = alone_ || bytes < kWalkersMax * limits_.shortest ? 1 : kWalkersMax;
    const auto stretch = static_cast<std::uint64_t>(std::clamp(bytes / count + 1, limits_.shortest, limits_.longest));
    const std::uint64_t first = walkers_[0].bit / 8;
    std::array<Walker*, kWalkersMax> walking{};
    for (int i = 0; i < count; ++i) {
      Walker& walker = walkers_[i];
      walking[static_cast<std::size_t>(i)] = &walker;
      if (i > 0) walker.begin(8 * (first + static_cast<std::uint64_t>(i) * stretch), phases_);
      walker.tries = i > 0 ? kTries : 0;
      walker.stop = 8 * (first + static_cast<std::uint64_t>(i + 1) * stretch);
    }
    walk_together(phases_, scan_.data(), {walking.data(), static_cast<std::size_t>(count)});

    // The first walker is right, up to where it meets the next one, and so on.
    Walker *right = walkers_, *next = walkers_ + 1, *const end = walkers_ + count;
    const std::uint64_t* start = right->starts;  // the first that was not taken
    for (;;) {
      const std::optional<Meeting> meeting = next < end ? meet(*right, start, *next) : std::nullopt;
      if (!chain_.take(start, meeting ? meeting->of_right : right->starts_end)) return false;
      if (meeting) {
        right = next++;
        start = meeting->of_next;
        continue;
      }
      start = right->starts_end;
      if (right->stuck) {
        chain_.fail();
        return false;
      }
      while (next < end && next->starts_end[-1] < right->bit) ++next;
      if (next == end) break;
      right->go_on_as(*right);
      start = right->starts;
      right->stop = right->bit;
      right->tries = 0;
      walk_together(phases_, scan_.data(), {&right, 1});
    }
    alone_ = alone_ || (count > 1 && right == walkers_);
    walkers_[0].go_on_as(*right);
    return true;
  }

  struct Meeting {
    const std::uint64_t *of_right, *of_next;
  };

  // Where the same block begins for both; of those of `right` the ones from `start` on count.
  std::optional<Meeting> meet(const Walker& right, const std::uint64_t* start, const Walker& next) const {
    const std::uint64_t* a = std::lower_bound(start, static_cast<const std::uint64_t*>(right.starts_end), *next.starts);
    const std::uint64_t* b = next.starts;
    while (a < right.starts_end && b < next.starts_end) {
      const bool same = *a == *b;
      if (same && (chain_.block() + (a - start) - (b - next.starts)) % grid_.blocks == 0) return Meeting{a, b};
      const bool before = *a < *b;
      a += same || before;
      b += same || !before;
    }
    return {};
  }

  const JpegHeader& header_;
  const McuGrid& grid_;
  const ScanBytes& scan_;
  const WalkStretch limits_;
  const WalkPhases phases_;
  const SegmentGrid segments_;
  BlockChain chain_;
  Walker walkers_[kWalkersMax];
  bool alone_ = false;
};

}  // namespace

bool ScanWalker::walk(const JpegHeader& header, const McuGrid& grid, JpegTables& tables, const ScanBytes& scan,
                      int rows, EntryPoints& points) {
  tables.build_skips();
  points.clear();
  auto* const starts = starts_.array<std::uint64_t>(kWalkersMax * kStartsMax);
  return Walk(header, grid, tables, scan, stretch_, starts, points).run(rows);
}

}  // namespace stoker
