// One request to a server, repeated until it is answered or given up.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/storage/http/http_dialect.h"
#include "stoker/storage/http/http_host.h"
#include "stoker/storage/http/response_head.h"
#include "stoker/storage/http/verdict.h"
#include "stoker/storage/pieces.h"

namespace stoker {

class HttpExchange;

/// Where the answer to a URL redirected to: calls that come soon after ask there at once. Threads: the driver's.
struct KeptRedirect {
  std::string target;
  std::int64_t until_ns = 0;
};

/// The caller owns it and keeps it, and what it refers to, until `done` was called.
struct HttpCall {
  enum class Method { kHead, kGet, kPut, kPost, kDelete };

  Method method = Method::kGet;
  std::string_view url;
  std::string_view name;            // of the object, for messages: the URL without what gives access
  std::string_view doing = "read";  // "cannot `doing` 'name': ..."
  HttpHost* host = nullptr;         // of the URL
  const HttpDialect* dialect = nullptr;
  bool follows_redirects = true;     // else a redirect is an answer like others
  KeptRedirect* redirect = nullptr;  // of calls for this URL, if it is to be kept

  // Of PUT and POST. They are repeated as others are, so that doing twice what they do must be harmless; but no second
  // one is sent while the first is under way.
  Bytes body;
  std::string_view body_digest;  // for a dialect that signs it

  // Set: the whole body of the answer, at most that long, replaces what it held; there is no range.
  std::string* reply = nullptr;
  std::size_t reply_max = 0;

  // GET without `reply`: bytes [first, first + length), one at least, of that version (null: of any), fill the pieces
  // from here on.
  std::uint64_t first = 0, length = 0;
  PieceCursor into;
  const ObjectVersion* version = nullptr;

  std::int64_t deadline_ns = std::numeric_limits<std::int64_t>::max();
  std::stop_token stop{};

  /// Called once, on the driver's thread; must not block, nor wait for another call. The call may be gone after it.
  void (*done)(HttpCall& call) noexcept = nullptr;
  void* context = nullptr;

  bool cleans_up = false;      // it is made even where everything else is stopped
  bool waits_for_room = true;  // else it is made at once, however many others are under way
  bool keeps_fields = false;   // all of the answer's, in `head`
  ResponseHead head;           // of the last answer
  std::exception_ptr error;    // kIo, kNotFound, kData, kUsage, kMemory, kClosed; null after success
  bool is_final = false;       // an error that asking again would bring again

  // The driver's:
  struct Progress {
    std::array<HttpExchange*, 2> exchanges{};  // under way: the first, and one sent because it is late
    HttpExchange* chosen = nullptr;            // whose answer is taken
    std::string redirected;                    // where to, if anywhere
    int tries = 0, redirects = 0;
    bool hedged = false;
    bool lined_up = false;
    bool ended = false;
    std::int64_t began_ns = 0;  // when the first exchange was started
    std::int64_t due_ns = 0;    // of the next exchange when none is under way
  };
  Progress progress;
  HttpCall* next = nullptr;

  /// Whether it only asks, so that it may be sent twice at once.
  bool only_reads() const { return method == Method::kHead || method == Method::kGet; }
  bool reads_range() const { return method == Method::kGet && !reply; }
};

}  // namespace stoker
