// The table in shared memory of the loaders of a host that share its cores, with a slot for each. There is no lock,
// since a process may be killed at any time; a slot whose owner has not reported for a while may be taken. Its contents
// are not trusted: a process may have been killed between two writes, or be hostile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stoker/storage/posix_file.h"

namespace stoker {

/// One loader's slot, in separate cache lines. All zero: free.
struct alignas(64) HostSlot {
  static constexpr std::size_t kCoreWords = 16;  // 1024 cores

  /// The owner and the time of its last report in one word, so that no other loader takes the slot of one that has just
  /// reported: a number that distinguishes loaders, never 0, in the bits above the seconds of a clock that all
  /// processes share.
  std::atomic<std::uint64_t> claim;
  std::atomic<std::int32_t> wanted;                          // threads
  std::array<std::atomic<std::uint64_t>, kCoreWords> cores;  // a bit for each that these may run on
};

/// Threads: any.
class HostTable {
 public:
  static constexpr std::size_t kSlots = 256;

  /// The table of all processes of this user that ask for this name of a POSIX shared-memory object: made by the first
  /// of them, and left behind. If that is not possible, the reason is logged, for debugging, and the table belongs to
  /// this process alone.
  explicit HostTable(const std::string& name);
  ~HostTable();
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  std::span<HostSlot, kSlots> slots() const { return std::span<HostSlot, kSlots>(slots_, kSlots); }
  /// Whether the name was removed, as some systems do when a user logs out: a process that asks for it now gets another
  /// table.
  bool removed() const;

 private:
  FileDescriptor object_;  // none: the process's own
  HostSlot* slots_;
};

}  // namespace stoker
