// What a file lies on: its file system, and the device below it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stoker {

struct StorageDevice {
  std::string file_system;     // "ext4"
  std::string device;          // "/dev/vda1", "server:/export"
  std::string device_class{};  // as in StorageFacts
  bool over_network = false;   // a file system on a server
  bool in_memory = false;      // nothing below it: a tmpfs

  struct Disk {
    unsigned major = 0, minor = 0;  // of all of it, also where the file system has a partition
  };
  std::optional<Disk> disk{};
};

/// `path` need not exist. `root`: of the folders /proc and /sys, for tests.
StorageDevice storage_device_of(const std::string& path, const std::string& root = {});

/// The bytes that devices really gave, as far as the kernel tells: this process, else anyone by that device. Bytes from
/// the page cache are not among them.
class DeviceReads {
 public:
  explicit DeviceReads(const StorageDevice& device, std::string root = {});

  /// So far. Nothing where the kernel does not tell.
  std::optional<std::uint64_t> bytes() const;

 private:
  const std::string root_;
  std::string stat_;  // the disk's file of counters; empty: unknown
};

/// "read_bytes" of a text like /proc/self/io.
std::optional<std::uint64_t> parse_read_bytes(const std::string& io);
/// Of a text like /sys/block/sda/stat.
std::optional<std::uint64_t> parse_disk_bytes(const std::string& stat);

}  // namespace stoker
