// The exit statuses of the command, for scripts.
#pragma once

namespace stoker {

constexpr int kExitDone = 0;
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitStarved = 1;        // of the doctor: the GPUs wait
constexpr int kExitNotMeasurable = 2;  // of the doctor: it cannot say
constexpr int kExitInterrupted = 130;  // as shells report a program that SIGINT ended

/// Thrown by a command that failed and has already reported why.
struct ExitStatus {
  int value;
};

}  // namespace stoker
