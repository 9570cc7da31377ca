#include "stoker/doctor/model/read_table.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <initializer_list>
#include <map>

#include "stoker/capacity/rates.h"

namespace stoker {

double figure_error(const Figure& figure) {
  constexpr double kDoubtful = 0.3;
  return figure.caveat.empty() ? figure.spread() : figure.spread() + kDoubtful;
}

ReadTable::ReadTable(const std::vector<ReadFacts>& measured, double long_bytes_per_s)
    : long_bytes_per_s_(long_bytes_per_s) {
  std::map<double, std::map<double, AtDepth>> sizes;
  for (const ReadFacts& reads : measured) {
    if (!reads.reads_per_s.known() || reads.reads_per_s.median <= 0 || reads.depth < 1) continue;
    const double depth = reads.depth;
    sizes[static_cast<double>(reads.bytes)][depth] = {depth, reads.reads_per_s.median, figure_error(reads.reads_per_s)};
  }
  for (const auto& [bytes, depths] : sizes) {
    Size size{bytes, {}};
    for (const auto& [depth, at] : depths) size.depths.push_back(at);
    sizes_.push_back(std::move(size));
  }
}

ReadTable::ReadTable(const DiskClass& disk) {
  constexpr double kLeast = 512, kMost = 16 * 1024 * 1024, kDepthMost = 1024;
  for (double bytes = kLeast; bytes <= kMost; bytes *= 2) {
    Size size{bytes, {}};
    for (double depth = 1; depth <= kDepthMost; depth *= 2) {
      const double each_s = disk.latency_s + bytes / disk.bytes_per_s;
      const double rate =
          std::min({disk.reads_per_s, rate_of_latency(depth, each_s, 1), rate_of_bytes(disk.bytes_per_s, bytes)});
      size.depths.push_back({depth, rate, 0});
    }
    sizes_.push_back(std::move(size));
  }
}

// Between two depths on a straight line of logarithms; as deep as measured, and no deeper.
ReadTable::Rate ReadTable::rate_at(const Size& size, double depth) {
  const std::vector<AtDepth>& depths = size.depths;
  const auto above = std::find_if(depths.begin(), depths.end(), [&](const AtDepth& at) { return at.depth >= depth; });
  if (above == depths.end()) return {depths.back().reads_per_s, depths.back().error};
  if (above->depth == depth) return {above->reads_per_s, above->error};
  if (above == depths.begin()) return {above->reads_per_s * depth / above->depth, above->error};
  const auto below = above - 1;
  const double part = std::log(depth / below->depth) / std::log(above->depth / below->depth);
  return {below->reads_per_s * std::pow(above->reads_per_s / below->reads_per_s, part),
          std::max(below->error, above->error)};
}

// Between two sizes, a read's time grows with its bytes.
ReadTable::Rate ReadTable::rate(double bytes, double depth) const {
  assert(known());
  const auto above = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size& size) { return size.bytes >= bytes; });
  if (above == sizes_.begin()) return rate_at(*above, depth);
  const Size& below = *(above - 1);
  const Rate rate = rate_at(below, depth);
  if (above == sizes_.end()) {
    const double bytes_per_s = std::max(long_bytes_per_s_, rate.reads_per_s * below.bytes);
    return {1 / (1 / rate.reads_per_s + (bytes - below.bytes) / bytes_per_s), rate.error};
  }
  const Rate larger = rate_at(*above, depth);
  const double part = (bytes - below.bytes) / (above->bytes - below.bytes);
  const double seconds = (1 - part) / rate.reads_per_s + part / larger.reads_per_s;
  return {1 / seconds, std::max(rate.error, larger.error)};
}

ReadTable::Rate ReadTable::deepest_rate(double bytes) const {
  Rate best{0, 0};
  for (const AtDepth& at : sizes_.front().depths) {
    const Rate rate = this->rate(bytes, at.depth);
    if (rate.reads_per_s > best.reads_per_s) best = rate;
  }
  return best;
}

double ReadTable::bytes_per_s_most() const {
  double most = 0;
  for (const Size& size : sizes_) {
    for (const AtDepth& at : size.depths) most = std::max(most, at.reads_per_s * size.bytes);
  }
  return most;
}

}  // namespace stoker
