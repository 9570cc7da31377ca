// Streams of the samples of opened data, in the order in which a job takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "stoker/format/dataset.h"
#include "stoker/format/open/data_shard.h"
#include "stoker/format/sample_stream.h"
#include "stoker/storage/source.h"

namespace stoker {

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

/// All rows of one shard, perhaps with another field as their image.
class ShardStream final : public SampleStream {
 public:
  explicit ShardStream(OpenedShard shard, std::string image = {})
      : shard_(std::move(shard)), image_(std::move(image)) {}

  bool next(SampleRow& row) override {
    if (position_ >= shard_.rows->size()) return false;
    shard_.rows->read(position_++, row);
    row.source = shard_.source.get();
    if (!image_.empty()) row.choose_image(image_);
    return true;
  }

 private:
  OpenedShard shard_;
  const std::string image_;
  std::int64_t position_ = 0;
};

}  // namespace stoker
