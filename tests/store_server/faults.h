// The ways in which an answer can be wrong, and how often they happen.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/store_server/answer.h"
#include "tests/store_server/request_head.h"

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
  kLost,           // what was asked for is done, and the connection reset without an answer
  kMute,           // it is done, and never answered
  kLate,           // it is answered a second late
  kInternalError,  // an <Error> after the status 200, as S3 may answer a completion; every other one is carried out
};

/// As the command line and the counts name it.
std::string_view name_of(Fault fault);
std::optional<Fault> find_fault(std::string_view name);

struct FaultOptions {
  std::vector<Fault> kinds{};
  double share = 0;         // of the answers
  std::string step{};       // of the requests that may fail (RequestHead::step()); empty: all
  std::uint64_t after = 0;  // so many requests are answered well
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // faults
  std::uint64_t seed = 1;
};

class Faults {
 public:
  explicit Faults(FaultOptions options) : options_(std::move(options)), random_(options_.seed) {}

  /// Which fault request `number` meets, if any.
  std::optional<Fault> draw(const RequestHead& asked, std::uint64_t number);
  /// Whether a request that writes is carried out all the same.
  bool is_carried_out(Fault fault);
  void spoil(Fault fault, const RequestHead& asked, Answer& answer);

 private:
  FaultOptions options_;
  std::mt19937_64 random_;
  std::uint64_t made_ = 0;
  int internal_errors_ = 0;
};

}  // namespace stoker
