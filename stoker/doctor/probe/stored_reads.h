// The seam between what the storage probe measures and how the data lie: shards, or loose files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/probe/storage_device.h"
#include "stoker/doctor/probe/timed_reads.h"

namespace stoker {

/// What came from the device, of what was read.
struct ReadEvidence {
  double wanted = 0, from_device = 0;  // bytes
  bool is_known = true;

  void add(const ReadEvidence& other);
  /// Empty if nothing speaks against reads that are cold, or warm.
  std::string caveat_of_cold() const;
  std::string caveat_of_warm() const;
};

/// Beside the median sample, reads at random are of these sizes.
inline constexpr std::uint64_t kSmallRead = 4 << 10, kLargeRead = 1 << 20;

/// Of reads at random.
struct ReadSize {
  std::uint64_t most = 0;     // of loose files from their beginning, or all of a shorter one
  std::uint64_t typical = 0;  // what that comes to
};

struct StoredRead {
  std::uint64_t bytes = 0;  // at most
  int depth = 1;
  double seconds = 0;  // then no more are begun, but for the first ones
  bool in_order = false;
};

class StoredReads {
 public:
  virtual ~StoredReads() = default;

  /// Sizes to be read at random, the median sample first.
  virtual std::vector<ReadSize> sizes(std::uint64_t record_bytes) const = 0;
  /// How a loader would read all of the data in order.
  virtual StoredRead all_in_order(double seconds) const = 0;

  /// Past the page cache, or once that has dropped what is to be read. All throw kIo, naming the file.
  virtual TimedReads read_cold(const StoredRead& read) = 0;
  /// Brings some of the data into the page cache; returns how many bytes.
  virtual std::uint64_t load(std::uint64_t bytes, double seconds) = 0;
  /// Of those.
  virtual TimedReads read_warm(const StoredRead& read) = 0;

  /// The bytes that the device gave to the reads so far, without what else was done; nothing if the kernel does not
  /// tell.
  const std::optional<std::uint64_t>& from_device() const { return from_device_; }

 protected:
  explicit StoredReads(const StorageDevice& device) : device_reads_(device) {}

  TimedReads time(const NextPlace& next, const StoredRead& read);

 private:
  const DeviceReads device_reads_;
  std::optional<std::uint64_t> from_device_ = 0;
};

}  // namespace stoker
