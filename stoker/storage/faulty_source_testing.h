// Wraps a source with faults: reads that fail, by number or by chance, and reads that are held until released, so that
// a test decides in which order they complete.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

struct FaultyOptions {
  std::set<std::int64_t> fail_reads{};  // these reads fail with kIo, counting from 0
  double fail_probability = 0;  // and each other one with this probability, decided by the seed and the read's number
  std::uint64_t seed = 0;
  bool for_good = false;  // a range whose read failed once fails ever after
  bool hold = false;      // reads wait until they are released
};

class FaultySource final : public Source {
 public:
  FaultySource(std::shared_ptr<Source> inner, FaultyOptions options);
  /// Releases what is still held.
  ~FaultySource() override;

  const std::string& name() const override { return inner_->name(); }
  std::uint64_t size(std::string_view part = {}) const override { return inner_->size(part); }
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override {
    inner_->will_need(offset, length, part);
  }
  std::uint64_t alignment() const override { return inner_->alignment(); }
  std::uint64_t gap_worth_reading() const override { return inner_->gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return inner_->gap_in_turn(); }
  bool is_remote() const override { return inner_->is_remote(); }
  std::string_view io_name() const override { return inner_->io_name(); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return inner_->identity(part); }

  /// How many reads were started.
  std::int64_t started() const;
  /// From here on these are the faults, as if no read had been started yet. While none is under way.
  void begin_again(FaultyOptions options);

  /// Waits until `count` reads are held.
  void wait_until_held(std::size_t count);
  /// Lets the held read at `index` go on (0 is the one held longest).
  void release(std::size_t index);
  /// Lets all go on, the one held longest first, and holds none from now on.
  void release_all();

 private:
  struct Held {
    ReadRequest* request;
    std::int64_t number;
  };
  bool fails(const Held& read);
  void go_on(Held held);

  std::shared_ptr<Source> inner_;
  FaultyOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool holding_;
  std::int64_t started_ = 0;
  std::vector<Held> held_;
  std::set<std::pair<std::string, std::uint64_t>> broken_;  // parts and offsets, for_good
};

}  // namespace stoker
