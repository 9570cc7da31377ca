#include "stoker/storage/http/http_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/http/http_url.h"

namespace stoker {

// In a forked child, where the lock may be held for ever, every part is made anew.

std::unique_ptr<HttpParts::Part> HttpParts::take() {
  if (home_.here()) {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Part> part = std::move(free_.back());
      free_.pop_back();
      return part;
    }
  }
  return std::make_unique<Part>();
}

void HttpParts::give_back(std::unique_ptr<Part> part) noexcept {
  if (!home_.here()) return;
  part->call.stop = {};
  part->call.error = nullptr;
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(part));
  } catch (const std::bad_alloc&) {
    // Then it is freed.
  }
}

/// A request between start() and done().
struct HttpSource::Reading {
  std::atomic<int> left{1};  // parts under way, and the one that starts them
  std::atomic<bool> failed{false};
};

HttpSource::HttpSource(HttpObject object, std::optional<ObjectVersion> version,
                       std::shared_ptr<HttpTransport> transport, std::shared_ptr<HttpParts> parts)
    : object_(std::move(object)),
      version_(std::move(version)),
      transport_(std::move(transport)),
      host_(transport_->host_of(object_.url)),
      parts_(std::move(parts)) {}

std::uint64_t HttpSource::size(std::string_view part) const {
  require_no_part(name(), part);
  if (!version_) fail(ErrorKind::kIo, "cannot look at '{}': its size is not known", name());
  return version_->size;
}

std::optional<ObjectIdentity> HttpSource::identity(std::string_view part) const {
  if (!part.empty() || !version_) return std::nullopt;
  if (!object_.revision.empty()) {
    return ObjectIdentity{.place = object_.name, .version = fmt::format("{} {}", version_->size, object_.revision)};
  }
  // A tag says all about the content; times differ between listings and answers about an object.
  const bool is_exact = is_strong_tag(version_->tag);
  if (!is_exact && version_->last_modified.empty()) return std::nullopt;
  std::string version = fmt::format("{} {}", version_->size, version_->tag);
  if (!is_exact) version += " " + version_->last_modified;
  return ObjectIdentity{.place = without_signature(object_.url), .version = std::move(version)};
}

void HttpSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_no_part(name(), request.part);
    // Of an object whose size is not known the server tells.
    const std::uint64_t size = version_ ? version_->size : std::numeric_limits<std::uint64_t>::max();
    require_range_inside(name(), size, request.offset, request.length());
    require_not_refused();
  });
  if (request.error) return request.done(request);
  request.scratch.make<Reading>();
  if (std::exception_ptr error = thrown_by([&] { start_parts(request); })) fail_read(request, std::move(error));
  finish_one(request);
}

void HttpSource::start_parts(ReadRequest& request) {
  const std::uint64_t gap = gap_worth_reading(), part_bytes = transport_->options().part_bytes;
  PieceCursor place(request.into);
  std::uint64_t position = request.offset;
  const auto pass = [&](std::uint64_t bytes) {
    place.pass(bytes);
    position += bytes;
  };
  bool reads = false;
  for (;;) {
    pass(place.hole_to_pass(gap));
    if (place.at_end()) break;
    const std::uint64_t length = std::min(place.stretch(gap), part_bytes);
    start_call(request, HttpCall::Method::kGet, position, length, place);
    reads = true;
    pass(length);
  }
  // Whether the range is inside an object of unknown size, of which nothing is read.
  if (!version_ && !reads) start_call(request, HttpCall::Method::kHead, 0, 0, place);
}

void HttpSource::start_call(ReadRequest& request, HttpCall::Method method, std::uint64_t first, std::uint64_t length,
                            const PieceCursor& into) {
  std::unique_ptr<HttpParts::Part> part = parts_->take();
  part->request = &request;
  HttpCall& call = part->call;
  call.method = method;
  call.url = object_.url;
  call.name = object_.name;
  call.dialect = object_.dialect.get();
  call.redirect = object_.keeps_redirect ? &redirect_ : nullptr;
  call.host = host_.get();
  call.first = first;
  call.length = length;
  call.into = into;
  call.version = version_ ? &*version_ : nullptr;
  call.deadline_ns = request.deadline_ns;
  call.stop = request.stop;
  call.context = part.get();
  call.done = &part_ended;
  request.scratch.get<Reading>().left.fetch_add(1, std::memory_order_relaxed);
  HttpCall& started = part.release()->call;  // part_ended() takes it back
  transport_->start(started);
}

/// Throws where an answer tells that the object, whose size was not known, has not all of the range.
void HttpSource::require_inside(const HttpCall& call, const ReadRequest& request) const {
  if (version_) return;
  const std::optional<ContentRange>& sent = call.head.content_range;
  const auto size = call.method == HttpCall::Method::kHead ? call.head.content_length
                    : sent                                 ? sent->object_bytes
                                                           : std::nullopt;
  if (size) require_range_inside(name(), *size, request.offset, request.length());
}

void HttpSource::part_ended(HttpCall& call) noexcept {
  std::unique_ptr<HttpParts::Part> part(static_cast<HttpParts::Part*>(call.context));
  ReadRequest& request = *part->request;
  auto& source = static_cast<HttpSource&>(*request.source);
  if (call.error) {
    if (call.is_final) source.keep_refusal(call.error);
    fail_read(request, call.error);
  } else if (std::exception_ptr outside = thrown_by([&] { source.require_inside(call, request); })) {
    fail_read(request, std::move(outside));
  }
  source.parts_->give_back(std::move(part));
  finish_one(request);
}

/// The first error is the read's.
void HttpSource::fail_read(ReadRequest& request, std::exception_ptr error) noexcept {
  if (!request.scratch.get<Reading>().failed.exchange(true)) request.error = std::move(error);
}

void HttpSource::finish_one(ReadRequest& request) noexcept {
  if (request.scratch.get<Reading>().left.fetch_sub(1, std::memory_order_acq_rel) == 1) request.done(request);
}

void HttpSource::require_not_refused() const {
  if (!is_refused_) return;
  const std::lock_guard lock(mutex_);
  std::rethrow_exception(refusal_);
}

void HttpSource::keep_refusal(const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (!refusal_) refusal_ = error;
  is_refused_ = true;
}

}  // namespace stoker
