// How fast a device answers reads at random, of any size and depth: between those that were measured.
#pragma once

#include <optional>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"

namespace stoker {

/// Relative: as the tries differ, and more if they may not be what they seem.
double figure_error(const Figure& figure);

class ReadTable {
 public:
  struct Rate {
    double reads_per_s;
    double error;  // relative
  };

  /// `long_bytes_per_s`: what larger reads than those measured get beyond these; 0: no more bytes a second than they.
  explicit ReadTable(const std::vector<ReadFacts>& measured, double long_bytes_per_s = 0);
  /// As a disk of this class would answer: with as many reads as it answers, its latency at the depth, its bandwidth.
  explicit ReadTable(const DiskClass& disk);

  bool known() const { return !sizes_.empty(); }
  /// Below the least size, as of that; beyond the largest, by long_bytes_per_s or by its bytes a second. There must be
  /// measurements.
  Rate rate(double bytes, double depth) const;
  /// Of the least size: what a read costs by itself.
  Rate small_rate(double depth) const { return rate(0, depth); }
  double small_bytes() const { return sizes_.front().bytes; }
  double largest_bytes() const { return sizes_.back().bytes; }
  /// At the depth at which it gives most.
  Rate deepest_rate(double bytes) const;
  /// The most bytes a second that any of the reads got.
  double bytes_per_s_most() const;

 private:
  struct AtDepth {
    double depth, reads_per_s, error;
  };
  struct Size {
    double bytes;
    std::vector<AtDepth> depths;  // ascending
  };
  static Rate rate_at(const Size& size, double depth);

  std::vector<Size> sizes_;  // ascending
  double long_bytes_per_s_ = 0;
};

}  // namespace stoker
