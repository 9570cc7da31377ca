// Lets the ranks of a job on one host begin each training step together, as the exchange of gradients does in a real
// one, without a library for messages between processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/order/launcher.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// Rank 0 listens on a socket without a file, and the others connect to it. All ranks make the same calls in the same
/// order. When a process ends early, the others get an error in their next call. Threads: one, except for interrupt().
class StepBarrier {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  /// `name`: the same for the ranks of a job, and different between jobs of this user that run at one time. Returns
  /// when all ranks are there. Throws kUsage if they are not within `patience`, as ranks on other hosts never are; kIo;
  /// and what stands below for calls.
  StepBarrier(const std::string& name, RankOfWorld rank, std::chrono::milliseconds patience = kPatience);

  /// Waits until all ranks call it. Returns the latest time of all, on a clock that the host's processes share. Throws
  /// kClosed if another rank has ended, or after interrupt().
  std::int64_t latest(std::int64_t at_ns);
  /// The same, for the sum of all numbers.
  double sum(double number);

  /// Ends the calls of this rank, and so those of all. Threads: any.
  void interrupt();

 private:
  struct Message {
    std::int64_t latest_ns;
    double sum;
  };

  void accept_all(const std::string& name, std::chrono::milliseconds patience);
  void connect_to_first(const std::string& name, std::chrono::milliseconds patience);
  Message exchange(Message own);

  const RankOfWorld rank_;
  std::vector<FileDescriptor>
      peers_;  // of rank 0: those of ranks 1, 2, ..., in the order of their arrival; else rank 0
  std::atomic<bool> interrupted_{false};
};

}  // namespace stoker
