#include "stoker/storage/http/http_source.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"

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

void HttpSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  request.error = thrown_by([&] {
    require_wanted(name(), request);
    require_no_part(name(), request.part);
    if (version_) require_range_inside(name(), version_->size, request.offset, request.length());
    require_not_refused();
  });
  if (request.error) return request.done(request);
  request.scratch.make<Reading>();
  if (std::exception_ptr error = thrown_by([&] { start_parts(request); })) fail_read(request, std::move(error));
  finish_one(request);
}

void HttpSource::start_parts(ReadRequest& request) {
  auto& reading = request.scratch.get<Reading>();
  const std::uint64_t gap = gap_worth_reading(), part_bytes = transport_->options().part_bytes;
  PieceCursor place(request.into);
  std::uint64_t position = request.offset;
  const auto pass = [&](std::uint64_t bytes) {
    place.pass(bytes);
    position += bytes;
  };
  for (;;) {
    pass(place.hole_to_pass(gap));
    if (place.at_end()) return;
    const std::uint64_t length = std::min(place.stretch(gap), part_bytes);
    std::unique_ptr<HttpParts::Part> part = parts_->take();
    part->request = &request;
    HttpCall& call = part->call;
    call.method = HttpCall::Method::kGet;
    call.url = object_.url;
    call.name = object_.name;
    call.dialect = object_.dialect.get();
    call.host = host_.get();
    call.first = position;
    call.length = length;
    call.into = place;
    call.version = version_ ? &*version_ : nullptr;
    call.deadline_ns = request.deadline_ns;
    call.stop = request.stop;
    call.context = part.get();
    call.done = &part_ended;
    reading.left.fetch_add(1, std::memory_order_relaxed);
    HttpCall& started = part.release()->call;  // part_ended() takes it back
    transport_->start(started);
    pass(length);
  }
}

void HttpSource::part_ended(HttpCall& call) noexcept {
  std::unique_ptr<HttpParts::Part> part(static_cast<HttpParts::Part*>(call.context));
  ReadRequest& request = *part->request;
  auto& source = static_cast<HttpSource&>(*request.source);
  if (call.error) {
    if (call.is_final) source.keep_refusal(call.error);
    fail_read(request, call.error);
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
