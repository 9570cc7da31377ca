// Where the loaders of a host meet that share its cores: a table in shared memory, with a slot for each. Nobody locks
// it, since a process may be killed at any time; a slot whose owner was not heard of for a while is anybody's. Nothing
// in it is believed to be sound: whoever shares it may have been killed between two words, or mean harm.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stoker/storage/posix_file.h"

namespace stoker {

/// One loader's, in cache lines of its own. All zero: nobody's.
struct alignas(64) HostSlot {
  static constexpr std::size_t kCoreWords = 16;  // 1024 cores

  /// Whose it is and when he was last heard of, in one word, so that nobody takes the slot of one who has just moved:
  /// a number that tells loaders apart, never 0, above the seconds of a clock that all processes have in common.
  std::atomic<std::uint64_t> claim;
  std::atomic<std::int32_t> wanted;                          // threads
  std::array<std::atomic<std::uint64_t>, kCoreWords> cores;  // a bit for each that these may run on
};

/// Threads: any.
class HostTable {
 public:
  static constexpr std::size_t kSlots = 256;

  /// The table of all processes of this user that ask for this name, a POSIX shared-memory object's: made by the first
  /// of them, and left behind. Where that is not possible the reason is logged, for debugging, and it is the table that
  /// this process has for itself.
  explicit HostTable(const std::string& name);
  ~HostTable();
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  std::span<HostSlot, kSlots> slots() const { return std::span<HostSlot, kSlots>(slots_, kSlots); }
  /// Whether the name has been taken from it, as some systems do when a user logs out: who asks for it now gets
  /// another.
  bool removed() const;

 private:
  FileDescriptor object_;  // none: the process's own
  HostSlot* slots_;
};

}  // namespace stoker
