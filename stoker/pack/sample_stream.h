// Samples one after another, in the order in which a job takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "stoker/format/dataset.h"
#include "stoker/format/open/data_shard.h"
#include "stoker/format/tar/tar_samples.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: one.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Replaces `row` by the next sample; false after the last. What its views show lives as long as the stream.
  virtual bool next(SampleRow& row) = 0;
};

/// The samples of a data set at positions `begin`, begin + 1, ... `end` - 1 of an order.
class DatasetStream final : public SampleStream {
 public:
  using Order = std::function<std::int64_t(std::int64_t position)>;

  /// The data set must outlive it.
  DatasetStream(const Dataset& dataset, std::int64_t begin, std::int64_t end, Order order)
      : dataset_(dataset), position_(begin), end_(end), order_(std::move(order)) {}

  bool next(SampleRow& row) override {
    if (position_ >= end_) return false;
    dataset_.read(order_(position_++), row);
    return true;
  }

 private:
  const Dataset& dataset_;
  std::int64_t position_, end_;
  Order order_;
};

/// All rows of one shard.
class ShardStream final : public SampleStream {
 public:
  explicit ShardStream(OpenedShard shard) : shard_(std::move(shard)) {}

  bool next(SampleRow& row) override {
    if (position_ >= shard_.rows->size()) return false;
    shard_.rows->read(position_++, row);
    row.source = shard_.source.get();
    return true;
  }

 private:
  OpenedShard shard_;
  std::int64_t position_ = 0;
};

/// The samples of a tar, found as it is passed.
class TarStream final : public SampleStream {
 public:
  /// The source must outlive it.
  explicit TarStream(Source& tar, std::stop_token stop = {}) : samples_(tar, std::move(stop)) {}
  bool next(SampleRow& row) override { return samples_.next(row); }

 private:
  TarSamples samples_;
};

}  // namespace stoker
