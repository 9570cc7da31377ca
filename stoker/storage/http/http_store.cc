#include "stoker/storage/http/http_store.h"

#include <array>
#include <deque>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/pending.h"

namespace stoker {
namespace {

constexpr std::int64_t kRememberedNs = 60'000'000'000;
constexpr std::size_t kRememberedMost = 100'000;

/// "http://host" and "http://host/data/"; a query names something, whatever precedes it.
bool is_folder_url(const Location& at) {
  const std::string_view text = at.text();
  const std::size_t host = text.find("://") + 3;
  return text.ends_with('/') || text.find_first_of("/?#", host) == std::string_view::npos;
}

[[noreturn]] void fail_unlisted(const Location& at) {
  fail(ErrorKind::kUsage,
       "'{}' cannot be listed, since web servers have no listing of their own; name the shards, as in "
       "'{}://host/shard-{{000..099}}.tar', or give a text file of URLs",
       at, at.scheme());
}

/// Whether the server refuses to tell about an object without sending it: signed URLs are for one method alone.
bool refuses_head(const ResponseHead& head) {
  return head.status == 400 || head.status == 403 || head.status == 405 || head.status == 501;
}

/// What both refer to must outlive the call.
void describe_look(HttpCall& call, const Location& at, const std::string& name, std::string_view doing,
                   HttpHost& host) {
  call.method = HttpCall::Method::kHead;
  call.url = at.text();
  call.name = name;
  call.doing = doing;
  call.host = &host;
}

}  // namespace

HttpStore::HttpStore(std::string scheme, std::shared_ptr<HttpTransport> transport)
    : scheme_(std::move(scheme)), transport_(std::move(transport)) {}

std::optional<ObjectFacts> HttpStore::find(const Location& at) const {
  if (is_folder_url(at)) return ObjectFacts{.mode = S_IFDIR};
  if (at.text().find('{') != std::string::npos) return std::nullopt;  // no URL has one
  std::exception_ptr refusal;
  const std::optional<Found> found = look_at(at, "look at", refusal);
  return found ? std::optional(found->facts) : std::nullopt;
}

ObjectFacts HttpStore::stat(const Location& at, std::string_view doing) const {
  if (is_folder_url(at)) return {.mode = S_IFDIR};
  return require_found(at, doing).facts;
}

HttpStore::Found HttpStore::require_found(const Location& at, std::string_view doing) const {
  std::exception_ptr refusal;
  std::optional<Found> found = look_at(at, doing, refusal);
  if (!found) std::rethrow_exception(refusal);
  return *std::move(found);
}

std::optional<HttpStore::Found> HttpStore::look_at(const Location& at, std::string_view doing,
                                                   std::exception_ptr& refusal) const {
  if (std::optional<Found> known = remembered(at)) return known;
  std::optional<Found> found = ask(at, doing, refusal);
  if (found) remember(at, *found);
  return found;
}

// In a forked child nothing is remembered, since the lock may be held for ever.

std::optional<HttpStore::Found> HttpStore::remembered(const Location& at) const {
  if (!home_.here()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(at.text());
  return known != found_.end() && now_ns() < known->second.until_ns ? std::optional(known->second) : std::nullopt;
}

void HttpStore::remember(const Location& at, Found found) const {
  if (!home_.here()) return;
  found.until_ns = now_ns() + kRememberedNs;
  const std::lock_guard lock(mutex_);
  if (found_.size() >= kRememberedMost) {
    std::erase_if(found_, [now = now_ns()](const auto& one) { return one.second.until_ns <= now; });
  }
  if (found_.size() < kRememberedMost) found_.insert_or_assign(at.text(), std::move(found));
}

void HttpStore::expect(std::span<const Location> objects) const {
  if (!home_.here() || objects.size() > kRememberedMost) return;
  struct Asked {
    std::string name;
    std::shared_ptr<HttpHost> host;
    HttpCall call;
  };
  std::deque<Asked> asked;
  {
    Pending pending;
    for (const Location& at : objects) {
      if (is_folder_url(at) || at.text().find_first_of("{*[") != std::string::npos || remembered(at)) continue;
      Asked& one = asked.emplace_back(Asked{.name = at.shown(), .host = transport_->host_of(at.text()), .call = {}});
      describe_look(one.call, at, one.name, "look at", *one.host);
      one.call.context = &pending;
      one.call.done = [](HttpCall& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
      pending.begin();
      transport_->start(one.call);
    }
  }
  // What went wrong is found again, and told, where it is asked for by itself.
  for (const Asked& one : asked) {
    if (!one.call.error && one.call.head.content_length) {
      remember(std::string(one.call.url), found_by(one.call.head, *one.call.head.content_length));
    }
  }
}

std::optional<HttpStore::Found> HttpStore::ask(const Location& at, std::string_view doing,
                                               std::exception_ptr& refusal) const {
  const std::shared_ptr<HttpHost> host = transport_->host_of(at.text());
  const std::string name = at.shown();
  HttpCall call;
  describe_look(call, at, name, doing, *host);
  transport_->perform(call);
  std::optional<std::uint64_t> size = call.head.content_length;
  if (call.error ? call.is_final && refuses_head(call.head) : !size) {
    std::array<std::uint8_t, 1> byte;
    const MutableBytes into(byte);
    call.method = HttpCall::Method::kGet;
    call.length = 1;
    call.into = PieceCursor(Pieces(&into, 1));
    transport_->perform(call);
    const ResponseHead& head = call.head;
    size = head.content_range ? head.content_range->object_bytes : head.content_length;
    const bool is_empty = size == 0u && (head.status == 416 || head.status == 200);
    if (is_empty) call.error = nullptr;
    if (!call.error && !size) fail(ErrorKind::kIo, "cannot {} '{}': the server does not tell its size", doing, name);
  }
  if (call.error) {
    if (!call.is_final || call.head.status < 400) std::rethrow_exception(call.error);
    refusal = call.error;
    return std::nullopt;
  }
  return found_by(call.head, *size);
}

HttpStore::Found HttpStore::found_by(const ResponseHead& head, std::uint64_t size) {
  Found found{.facts = {.size = size, .tag = head.tag},
              .version = {.size = size, .tag = head.tag, .last_modified = head.last_modified}};
  if (const auto modified_s = parse_http_date(head.last_modified)) found.facts.modified.tv_sec = *modified_s;
  return found;
}

std::unique_ptr<Folder> HttpStore::list(const Location& folder) const { fail_unlisted(folder); }

std::vector<Location> HttpStore::match(const Location& pattern) const {
  // A question mark alone begins a query, so that what is wrong is something else.
  if (pattern.text().find_first_of("*[") == std::string::npos) require_found(pattern, "open");
  fail_unlisted(pattern);
}

std::shared_ptr<Source> HttpStore::open(const Location& at) const {
  if (is_folder_url(at)) fail(ErrorKind::kUsage, "'{}' is a folder, but a file is needed", at);
  return std::make_shared<HttpSource>(at.text(), require_found(at, "open").version, transport_, parts_);
}

std::shared_ptr<Source> HttpStore::open_folder(const Location& folder) const { fail_unlisted(folder); }

std::unique_ptr<ObjectWriter> HttpStore::put(const Location& at) const {
  fail(ErrorKind::kUsage, "'{}' cannot be written: Stoker only reads from web servers", at);
}

}  // namespace stoker
