// An object that is followed, at offsets beyond its end, by bytes in memory: for the few values of a shard that do not
// lie in it as one range.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any; but append() before the first read. Its size is that of the object alone.
class ExtendedSource final : public Source {
 public:
  explicit ExtendedSource(std::shared_ptr<Source> object, std::vector<std::uint8_t> bytes = {})
      : object_(std::move(object)), begin_(begin(object_->size())), bytes_(std::move(bytes)) {}

  /// Where the bytes begin behind an object of that size: so far from its end that no read joins the two.
  static constexpr std::uint64_t begin(std::uint64_t object_bytes) { return object_bytes + (std::uint64_t{1} << 32); }

  /// Adds to the bytes; returns where the addition begins.
  std::uint64_t append(Bytes bytes);
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::vector<std::uint8_t> take_bytes() { return std::exchange(bytes_, {}); }

  const std::string& name() const override { return object_->name(); }
  std::string name_of(std::string_view part) const override { return object_->name_of(part); }
  std::uint64_t size(std::string_view part = {}) const override { return object_->size(part); }
  // No identity: what caches of objects keep by offset is of objects alone.
  std::unique_ptr<Folder> list(std::string_view part) const override { return object_->list(part); }
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override;
  std::uint64_t alignment() const override { return object_->alignment(); }
  std::uint64_t gap_worth_reading() const override { return object_->gap_worth_reading(); }
  bool is_remote() const override { return object_->is_remote(); }
  std::string_view io_name() const override { return object_->io_name(); }

 private:
  std::shared_ptr<Source> object_;
  std::uint64_t begin_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace stoker
