#include "stoker/storage/http/http_objects.h"

#include <array>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/storage/http/fetched_source.h"

namespace stoker {
namespace {

constexpr std::int64_t kRememberedNs = 60'000'000'000;
constexpr std::size_t kRememberedMost = 100'000, kRememberedFoldersMost = 100, kRememberedContentsMost = 8;

/// The URL up to its last slash.
std::string containing_url(const std::string& url) { return url.substr(0, url.rfind('/') + 1); }

/// Whether the server refuses to tell about an object without sending it: signed URLs are for one method alone, and the
/// answer to a HEAD cannot explain itself.
bool refuses_head(const ResponseHead& head) {
  return head.status == 400 || head.status == 403 || head.status == 405 || head.status == 501;
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
  folders_.erase(object.url + '/');
  contents_.erase(object.url);
}

void HttpObjects::remember_folder(const HttpObject& folder, SeenFolder seen) const {
  if (!home_.here()) return;
  RememberedFolder one{.seen = std::move(seen), .until_ns = now_ns() + kRememberedNs};
  const std::lock_guard lock(mutex_);
  std::erase_if(folders_, [now = now_ns()](const auto& known) { return known.second.until_ns <= now; });
  if (folders_.size() < kRememberedFoldersMost) folders_.insert_or_assign(folder.url, std::move(one));
}

/// Null for one that is not remembered. The lock is held.
const SeenFolder* HttpObjects::seen_folder(const std::string& url) const {
  const auto known = folders_.find(url);
  return known == folders_.end() || known->second.until_ns <= now_ns() ? nullptr : &known->second.seen;
}

Presence HttpObjects::presence(const HttpObject& object) const {
  if (!home_.here()) return Presence::kUnknown;
  const auto as_folder = [](const SeenFolder& seen) {
    if (!seen.contents.empty()) return Presence::kFolder;
    return seen.is_whole ? Presence::kAbsent : Presence::kUnknown;
  };
  const std::lock_guard lock(mutex_);
  const std::string around = containing_url(object.url);
  const SeenFolder* const folder = seen_folder(around);
  if (around == object.url) return folder ? as_folder(*folder) : Presence::kUnknown;
  if (folder && folder->contents.contains(object.url)) return Presence::kObject;
  if (folder && folder->contents.contains(object.url + '/')) return Presence::kFolder;
  if (folder && folder->is_whole) return Presence::kAbsent;
  const SeenFolder* const itself = seen_folder(object.url + '/');
  return itself && itself->is_no_object ? as_folder(*itself) : Presence::kUnknown;
}

void HttpObjects::remember_content(const HttpObject& object, ObjectVersion version, std::string content) const {
  if (!home_.here()) return;
  RememberedContent one{
      .version = std::move(version), .content = std::move(content), .until_ns = now_ns() + kRememberedNs};
  const std::lock_guard lock(mutex_);
  std::erase_if(contents_, [now = now_ns()](const auto& known) { return known.second.until_ns <= now; });
  if (contents_.size() < kRememberedContentsMost) contents_.insert_or_assign(object.url, std::move(one));
}

std::optional<std::string> HttpObjects::take_content(const HttpObject& object, const ObjectVersion& version) const {
  if (!home_.here()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto known = contents_.find(object.url);
  if (known == contents_.end()) return std::nullopt;
  const RememberedContent kept = std::move(known->second);
  contents_.erase(known);
  const bool is_same =
      is_strong_tag(version.tag) && kept.version.tag == version.tag && kept.content.size() == version.size;
  return is_same && now_ns() < kept.until_ns ? std::optional(kept.content) : std::nullopt;
}

HttpCall& HttpObjects::add_look(HttpRound& round, const HttpObject& object, std::string_view doing) const {
  HttpCall& call = round.add(object, doing);
  call.method = HttpCall::Method::kHead;
  return call;
}

Presence HttpObjects::remember_look(const HttpObject& object, const HttpCall& ended) const {
  if (ended.error) return ended.is_final && ended.head.status == 404 ? Presence::kAbsent : Presence::kUnknown;
  if (!ended.head.content_length) return Presence::kUnknown;
  remember(object, found_by(ended.head, *ended.head.content_length));
  return Presence::kObject;
}

void HttpObjects::expect(const std::vector<HttpObject>& objects) const {
  if (!home_.here() || objects.size() > kRememberedMost) return;
  HttpRound round(*transport_);
  std::vector<std::pair<const HttpObject*, const HttpCall*>> looks;
  for (const HttpObject& object : objects) {
    if (!remembered(object)) looks.emplace_back(&object, &add_look(round, object, "look at"));
  }
  round.run();
  // What went wrong is found again, and told, where it is asked for by itself.
  for (const auto& [object, look] : looks) remember_look(*object, *look);
}

std::optional<FoundObject> HttpObjects::ask(const HttpObject& object, std::string_view doing,
                                            std::exception_ptr& refusal) const {
  HttpRound round(*transport_);
  HttpCall& call = add_look(round, object, doing);
  round.run();
  // As servers redirect from a folder's name without a slash, whatever they have to show of it.
  if (call.progress.redirected == object.url + '/') return FoundObject{.facts = {.mode = S_IFDIR}, .version = {}};
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
  const ObjectVersion version = require(object, "open").version;
  auto source = std::make_shared<HttpSource>(object, version, transport_, parts_);
  if (auto content = take_content(object, version)) {
    return std::make_shared<FetchedSource>(std::move(source), *std::move(content));
  }
  return source;
}

std::unique_ptr<HttpSource> HttpObjects::open_unseen(const HttpObject& object) const {
  return std::make_unique<HttpSource>(object, std::nullopt, transport_, parts_);
}

}  // namespace stoker
