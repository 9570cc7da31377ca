#include "stoker/storage/http/http_objects.h"

#include <array>
#include <deque>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/pending.h"

namespace stoker {
namespace {

constexpr std::int64_t kRememberedNs = 60'000'000'000;
constexpr std::size_t kRememberedMost = 100'000, kRememberedFoldersMost = 100;

/// The URL up to its last slash.
std::string containing_url(const std::string& url) { return url.substr(0, url.rfind('/') + 1); }

/// Whether the server refuses to tell about an object without sending it: signed URLs are for one method alone, and the
/// answer to a HEAD cannot explain itself.
bool refuses_head(const ResponseHead& head) {
  return head.status == 400 || head.status == 403 || head.status == 405 || head.status == 501;
}

/// What all refer to must outlive the call.
void describe_look(HttpCall& call, const HttpObject& object, std::string_view doing, HttpHost& host) {
  call.method = HttpCall::Method::kHead;
  call.url = object.url;
  call.name = object.name;
  call.dialect = object.dialect.get();
  call.doing = doing;
  call.host = &host;
  call.keeps_fields = object.dialect != nullptr;  // which may explain a refusal that has no document
}

FoundObject found_by(const ResponseHead& head, std::uint64_t size) {
  FoundObject found{.facts = {.size = size, .tag = head.tag},
                    .version = {.size = size, .tag = head.tag, .last_modified = head.last_modified}};
  if (const auto modified_s = parse_http_date(head.last_modified)) found.facts.modified.tv_sec = *modified_s;
  return found;
}

}  // namespace

std::optional<FoundObject> HttpObjects::find(const HttpObject& object, std::string_view doing,
                                             std::exception_ptr& refusal) const {
  if (std::optional<FoundObject> known = remembered(object)) return known;
  std::optional<FoundObject> found = ask(object, doing, refusal);
  if (found) remember(object, *found);
  return found;
}

FoundObject HttpObjects::require(const HttpObject& object, std::string_view doing) const {
  std::exception_ptr refusal;
  std::optional<FoundObject> found = find(object, doing, refusal);
  if (!found) std::rethrow_exception(refusal);
  return *std::move(found);
}

// In a forked child nothing is remembered, since the lock may be held for ever.

std::optional<FoundObject> HttpObjects::remembered(const HttpObject& object) const {
  if (!home_.here()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(object.url);
  return known != found_.end() && now_ns() < known->second.until_ns ? std::optional(known->second.found) : std::nullopt;
}

void HttpObjects::remember(const HttpObject& object, FoundObject found) const {
  if (!home_.here()) return;
  Remembered one{.found = std::move(found), .until_ns = now_ns() + kRememberedNs};
  const std::lock_guard lock(mutex_);
  if (found_.size() >= kRememberedMost) {
    std::erase_if(found_, [now = now_ns()](const auto& known) { return known.second.until_ns <= now; });
  }
  if (found_.size() < kRememberedMost) found_.insert_or_assign(object.url, std::move(one));
}

void HttpObjects::forget(const HttpObject& object) const {
  if (!home_.here()) return;
  const std::lock_guard lock(mutex_);
  found_.erase(object.url);
  folders_.erase(containing_url(object.url));
}

void HttpObjects::remember_folder(const HttpObject& folder, FolderContents contents) const {
  if (!home_.here()) return;
  RememberedFolder one{.contents = std::move(contents), .until_ns = now_ns() + kRememberedNs};
  const std::lock_guard lock(mutex_);
  std::erase_if(folders_, [now = now_ns()](const auto& known) { return known.second.until_ns <= now; });
  if (folders_.size() < kRememberedFoldersMost) folders_.insert_or_assign(folder.url, std::move(one));
}

Presence HttpObjects::presence(const HttpObject& object) const {
  if (!home_.here()) return Presence::kUnknown;
  const std::lock_guard lock(mutex_);
  const std::string folder = containing_url(object.url);
  const auto known = folders_.find(folder);
  if (known == folders_.end() || known->second.until_ns <= now_ns()) return Presence::kUnknown;
  const FolderContents& contents = known->second.contents;
  if (folder == object.url) return contents.empty() ? Presence::kAbsent : Presence::kFolder;
  if (contents.contains(object.url)) return Presence::kObject;
  return contents.contains(object.url + '/') ? Presence::kFolder : Presence::kAbsent;
}

void HttpObjects::expect(const std::vector<HttpObject>& objects) const {
  if (!home_.here() || objects.size() > kRememberedMost) return;
  struct Asked {
    const HttpObject* object;
    std::shared_ptr<HttpHost> host;
    HttpCall call;
  };
  std::deque<Asked> asked;
  {
    Pending pending;
    for (const HttpObject& object : objects) {
      if (remembered(object)) continue;
      Asked& one = asked.emplace_back(Asked{.object = &object, .host = transport_->host_of(object.url), .call = {}});
      describe_look(one.call, object, "look at", *one.host);
      one.call.context = &pending;
      one.call.done = [](HttpCall& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
      pending.begin();
      transport_->start(one.call);
    }
  }
  // What went wrong is found again, and told, where it is asked for by itself.
  for (const Asked& one : asked) {
    if (!one.call.error && one.call.head.content_length) {
      remember(*one.object, found_by(one.call.head, *one.call.head.content_length));
    }
  }
}

std::optional<FoundObject> HttpObjects::ask(const HttpObject& object, std::string_view doing,
                                            std::exception_ptr& refusal) const {
  const std::shared_ptr<HttpHost> host = transport_->host_of(object.url);
  HttpCall call;
  describe_look(call, object, doing, *host);
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
    if (!call.error && !size)
      fail(ErrorKind::kIo, "cannot {} '{}': the server does not tell its size", doing, object.name);
  }
  if (call.error) {
    if (!call.is_final || call.head.status < 400) std::rethrow_exception(call.error);
    refusal = call.error;
    return std::nullopt;
  }
  return found_by(call.head, *size);
}

std::shared_ptr<Source> HttpObjects::open(const HttpObject& object) const {
  return std::make_shared<HttpSource>(object, require(object, "open").version, transport_, parts_);
}

std::unique_ptr<HttpSource> HttpObjects::open_unseen(const HttpObject& object) const {
  return std::make_unique<HttpSource>(object, std::nullopt, transport_, parts_);
}

}  // namespace stoker
