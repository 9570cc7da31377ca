// Requests that are made side by side, so that all of them together take one round trip.
#pragma once

#include <deque>
#include <memory>
#include <string_view>

#include "stoker/storage/http/http_source.h"
#include "stoker/storage/http/http_transport.h"

namespace stoker {

/// Threads: one at a time.
class HttpRound {
 public:
  explicit HttpRound(HttpTransport& transport) : transport_(transport) {}
  HttpRound(const HttpRound&) = delete;
  HttpRound& operator=(const HttpRound&) = delete;

  /// A request for the object, which must outlive this; what else belongs to the call is the caller's to say before
  /// run(). Valid as long as this.
  HttpCall& add(const HttpObject& object, std::string_view doing);
  /// Makes all of them, once, and waits until they have ended; their errors are the caller's to look at.
  void run();

 private:
  struct Asked {
    std::shared_ptr<HttpHost> host;
    HttpCall call;
  };

  HttpTransport& transport_;
  std::deque<Asked> asked_;  // they stay where they are
};

}  // namespace stoker
