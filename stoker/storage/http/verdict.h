// Whether an answer is what was asked for; if not, why, and whether asking again can help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/http/response_head.h"

namespace stoker {

/// An object as it was found when it was looked at.
struct ObjectVersion {
  std::uint64_t size = 0;
  std::string tag{}, last_modified{};  // as the server sent them; empty where it sent none
};

struct Verdict {
  enum class Kind {
    kGood,
    kRedirect,
    kAgain,  // what went wrong may pass
    kFinal,  // the same would happen again
  };

  Kind kind = Kind::kGood;
  ErrorKind error = ErrorKind::kIo;
  std::string why{};                            // continues "cannot read 'http://...': "
  std::optional<std::int64_t> retry_after_s{};  // the server asks for that
  bool unreachable = false;                     // the server said nothing
  bool slow_down = false;                       // the server is asked too often

  static Verdict again(std::string why) { return {.kind = Kind::kAgain, .why = std::move(why)}; }
  static Verdict refusal(std::string why, ErrorKind error = ErrorKind::kIo) {
    return {.kind = Kind::kFinal, .error = error, .why = std::move(why)};
  }
};

/// Of the head alone, when no range was asked for: the answer to a HEAD.
Verdict verdict_on_head(const ResponseHead& head);

/// Of the head of the answer to a request for bytes [first, first + length), one at least: whether its body will be
/// those bytes, of that version. Without a version any will do. `sends_ranges`: the server has sent some before.
Verdict verdict_on_range(const ResponseHead& head, std::uint64_t first, std::uint64_t length,
                         const ObjectVersion* version, bool sends_ranges = false);

/// Of a transfer that libcurl ended with an error: `code`, a CURLcode, and what it says about it.
Verdict verdict_on_failure(int code, std::string_view message);

}  // namespace stoker
