// An object that a web server serves, read by ranges. A read becomes requests of its own where holes are too large to
// be worth reading, and where it is long enough to be read in parts side by side.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/http/http_transport.h"
#include "stoker/storage/source.h"

namespace stoker {

/// The calls of reads, used again: shared by all sources of a transport.
class HttpParts;

/// An object as a store over HTTP knows it.
struct HttpObject {
  std::string url;
  std::string name;                                      // for messages: without what gives access
  std::shared_ptr<const HttpDialect> dialect = nullptr;  // what the store adds to HTTP, if anything
  std::string revision{};                                // what tells the bytes of that name from all others, if known
  bool keeps_redirect = false;                           // for some minutes; the dialect says if it has expired
};

class HttpSource final : public Source {
 public:
  /// Of what was found to be of that version; without a version of whatever is there, whose size is not known.
  HttpSource(HttpObject object, std::optional<ObjectVersion> version, std::shared_ptr<HttpTransport> transport,
             std::shared_ptr<HttpParts> parts);

  const std::string& name() const override { return object_.name; }
  std::uint64_t size(std::string_view part = {}) const override;
  /// Of an object that has a strong tag, or a date.
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override;
  /// A read is dropped within the second when it is stopped, also when it is under way. Once the server has refused a
  /// read in a way that asking again does not change, all that follow fail with the same sentence.
  void start(ReadRequest& request) override;
  std::uint64_t gap_worth_reading() const override { return LinkEstimate::kGapSideBySide; }
  std::uint64_t gap_in_turn() const override { return host_->link.gap_in_turn(); }
  bool is_remote() const override { return true; }
  std::string_view io_name() const override { return "http"; }

 private:
  friend class HttpParts;
  struct Reading;

  void start_parts(ReadRequest& request);
  void start_call(ReadRequest& request, HttpCall::Method method, std::uint64_t first, std::uint64_t length,
                  const PieceCursor& into);
  void require_inside(const HttpCall& call, const ReadRequest& request) const;
  static void part_ended(HttpCall& call) noexcept;
  static void finish_one(ReadRequest& request) noexcept;
  static void fail_read(ReadRequest& request, std::exception_ptr error) noexcept;
  void require_not_refused() const;
  void keep_refusal(const std::exception_ptr& error);

  const HttpObject object_;
  const std::optional<ObjectVersion> version_;
  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<HttpHost> host_;
  const std::shared_ptr<HttpParts> parts_;

  std::atomic<bool> is_refused_ = false;
  mutable std::mutex mutex_;
  std::exception_ptr refusal_;
  KeptRedirect redirect_;  // the driver's
};

class HttpParts {
 public:
  struct Part {
    HttpCall call;
    ReadRequest* request = nullptr;
  };

  std::unique_ptr<Part> take();
  void give_back(std::unique_ptr<Part> part) noexcept;

 private:
  const HomeProcess home_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Part>> free_;
};

}  // namespace stoker
