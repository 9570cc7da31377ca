// What the command's exit status says to scripts.
#pragma once

namespace stoker {

constexpr int kExitDone = 0;
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;  // as shells report a program that SIGINT ended

/// Thrown by a command that has said all there is to say and did not succeed.
struct ExitStatus {
  int value;
};

}  // namespace stoker
