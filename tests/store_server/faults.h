// The ways in which an answer can be wrong, and how often they happen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/store_server/answer.h"

namespace stoker {

enum class Fault {
  k500,
  k503,
  k503RetryAfter,
  kReset,
  kSilence,
  kDrip,
  kShort,
  kWrongLength,
  kWrongRange,
  kChangedTag,
  kGarbage,
  kNotHttp,
};

/// As the command line and the counts name it.
std::string_view name_of(Fault fault);
std::optional<Fault> find_fault(std::string_view name);

struct FaultOptions {
  std::vector<Fault> kinds{};
  double share = 0;         // of the answers
  std::uint64_t after = 0;  // so many requests are answered well
  std::uint64_t seed = 1;
};

class Faults {
 public:
  explicit Faults(FaultOptions options) : options_(std::move(options)), random_(options_.seed) {}

  /// Spoils the answer to request `number`, or not; says what it did.
  std::optional<Fault> spoil(Answer& answer, std::uint64_t number);

 private:
  const FaultOptions options_;
  std::mt19937_64 random_;
};

}  // namespace stoker
