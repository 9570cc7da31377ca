// A source that keeps the last bytes that were read from it for the first time. A scan that looks at every byte is
// ahead of the readers of its samples: these need not ask a distant store for the same bytes again.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any. What it keeps are reads in one piece that reach further than all before.
class RecentSource final : public Source {
 public:
  RecentSource(std::shared_ptr<Source> object, std::uint64_t kept_bytes_max)
      : object_(std::move(object)), kept_bytes_max_(kept_bytes_max) {}

  const std::string& name() const override { return object_->name(); }
  std::string name_of(std::string_view part) const override { return object_->name_of(part); }
  std::uint64_t size(std::string_view part = {}) const override { return object_->size(part); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return object_->identity(part); }
  std::unique_ptr<Folder> list(std::string_view part) const override { return object_->list(part); }
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override {
    object_->will_need(offset, length, part);
  }
  std::uint64_t alignment() const override { return object_->alignment(); }
  std::uint64_t gap_worth_reading() const override { return object_->gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return object_->gap_in_turn(); }
  bool is_remote() const override { return object_->is_remote(); }
  std::string_view io_name() const override { return object_->io_name(); }

 private:
  struct Block {
    std::uint64_t begin = 0;
    std::vector<std::uint8_t> bytes{};

    std::uint64_t end() const { return begin + bytes.size(); }
  };
  struct FirstRead;

  bool copy_kept(const ReadRequest& request);
  bool is_first(const ReadRequest& request);
  void read_first(ReadRequest& request);
  static void first_read_ended(ReadRequest& inner) noexcept;
  void keep(Block block);

  const std::shared_ptr<Source> object_;
  const std::uint64_t kept_bytes_max_;
  std::mutex mutex_;
  std::deque<Block> kept_;        // in the order of their places
  std::uint64_t kept_bytes_ = 0;  // of all of them
  std::uint64_t reached_ = 0;     // by the reads so far
};

}  // namespace stoker
