// One request and its answer, by a handle of libcurl. It is used again, for any call.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "stoker/storage/http/http_call.h"
#include "stoker/storage/http/http_options.h"

namespace stoker {

/// Threads: the driver's.
class HttpExchange {
 public:
  /// The size of libcurl's buffer, which one call of recv() fills at most. A handle keeps its buffer, so that it stays
  /// as it is.
  enum class Buffer { kSmall, kLarge };
  static constexpr std::uint64_t kSmallBuffer = 64 << 10;
  static constexpr std::uint64_t kLargeBuffer = 256 << 10;

  /// Throws kMemory.
  HttpExchange(const HttpOptions& options, Buffer buffer);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  CURL* handle() const { return curl_.get(); }
  Buffer buffer() const { return buffer_; }
  static HttpExchange& of(CURL* handle);
  HttpCall& call() const { return *call_; }

  /// Makes the handle ready to ask for the call's object at `url`.
  void begin(HttpCall& call, const std::string& url, std::int64_t now_ns);
  /// What came of it, now that libcurl ended it with `code`, a CURLcode.
  Verdict end(CURLcode code);
  /// It is forgotten, whatever comes: to be called when the handle was taken from libcurl.
  void abandon() { call_ = nullptr; }

  const ResponseHead& head() const { return head_; }
  std::uint64_t received() const { return received_; }  // of what was asked for
  /// What came with an answer that is an error.
  std::string_view document() const { return document_; }
  std::int64_t sent_ns() const { return sent_ns_; }
  /// When libcurl took the last bytes of its body so far; 0 without a body.
  std::int64_t body_sent_ns() const { return body_sent_ns_; }
  /// When the answer began; 0 before.
  std::int64_t answered_ns() const { return answered_ns_; }
  /// Where a redirect leads.
  std::string redirect_url() const;
  int connections_made() const;

  /// Whether the server has all that it needs for what it is asked to do, which may take it long.
  bool is_worked_on() const;
  /// Whether less came since it began, or since this was last false, than `options` allow.
  bool stalls(const HttpOptions& options, std::int64_t now_ns);

 private:
  static std::size_t take_header(char* bytes, std::size_t one, std::size_t count, void* exchange) noexcept;
  static std::size_t give_body(char* into, std::size_t one, std::size_t count, void* exchange) noexcept;
  static int rewind_body(void* exchange, curl_off_t offset, int origin) noexcept;
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* exchange) noexcept;
  bool take(Bytes bytes);
  void set_method();
  void take_line(std::string_view line);
  void judge_head();
  void set_fields(const std::string& url);

  struct FreeHandle {
    void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
  };
  struct FreeFields {
    void operator()(curl_slist* fields) const { ::curl_slist_free_all(fields); }
  };

  using Fields = std::unique_ptr<curl_slist, FreeFields>;

  const Buffer buffer_;
  Fields fields_;
  std::unique_ptr<CURL, FreeHandle> curl_;
  std::array<char, CURL_ERROR_SIZE> message_{};

  HttpCall* call_ = nullptr;
  PieceCursor place_;
  ResponseHead head_;
  Verdict verdict_;  // on what came so far
  std::uint64_t received_ = 0;
  std::uint64_t unused_ = 0;  // bytes of a body that is not what was asked for
  std::string document_;
  std::uint64_t body_given_ = 0;  // bytes of the call's body that libcurl has
  std::int64_t sent_ns_ = 0, body_sent_ns_ = 0, answered_ns_ = 0;
  std::uint64_t passed_ = 0;  // bytes of any kind, in both directions
  std::uint64_t passed_before_ = 0;
  std::int64_t watched_from_ns_ = 0;
};

}  // namespace stoker
