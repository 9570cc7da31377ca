#include "stoker/storage/http/http_store.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/kind_of.h"
#include "stoker/storage/http/http_folder.h"

namespace stoker {
namespace {

/// "http://host" and "http://host/data/"; a query names something, whatever precedes it.
bool is_folder_url(const Location& at) {
  const std::string_view text = at.text();
  const std::size_t host = text.find("://") + 3;
  return text.ends_with('/') || text.find_first_of("/?#", host) == std::string_view::npos;
}

[[noreturn]] void fail_read_only(const Location& at) {
  fail(ErrorKind::kUsage, "'{}' cannot be written: Stoker only reads from web servers", at);
}

HttpObject object_at(const Location& at) { return {.url = at.text(), .name = at.shown()}; }

}  // namespace

HttpStore::HttpStore(std::string scheme, std::shared_ptr<HttpTransport> transport)
    : scheme_(std::move(scheme)), objects_(std::make_shared<const HttpObjects>(std::move(transport))) {}

std::optional<ObjectFacts> HttpStore::find(const Location& at) const {
  if (is_folder_url(at)) return ObjectFacts{.mode = S_IFDIR};
  if (at.text().find('{') != std::string::npos) return std::nullopt;  // no URL has one
  std::exception_ptr refusal;
  const std::optional<FoundObject> found = objects_->find(object_at(at), "look at", refusal);
  return found ? std::optional(found->facts) : std::nullopt;
}

ObjectFacts HttpStore::stat(const Location& at, std::string_view doing) const {
  if (is_folder_url(at)) return {.mode = S_IFDIR};
  return objects_->require(object_at(at), doing).facts;
}

void HttpStore::expect(std::span<const Location> objects) const {
  std::vector<HttpObject> expected;
  for (const Location& at : objects) {
    if (!is_folder_url(at) && at.text().find_first_of("{*[") == std::string::npos) expected.push_back(object_at(at));
  }
  objects_->expect(expected);
}

void HttpStore::expect_folder(const Location& folder, std::string_view file) const {
  if (!is_folder_url(folder)) return;
  std::exception_ptr refusal;
  objects_->find(object_at(folder / file), "look at", refusal);
  if (!refusal || kind_of(refusal) == ErrorKind::kNotFound || !home_.here()) return;
  const std::lock_guard lock(mutex_);
  refusals_.insert_or_assign(folder.text(), refusal);
}

void HttpStore::require_not_refused(const Location& folder) const {
  if (!home_.here()) return;
  const std::lock_guard lock(mutex_);
  const auto refused = refusals_.find(folder.text());
  if (refused != refusals_.end()) std::rethrow_exception(refused->second);
}

std::unique_ptr<Folder> HttpStore::list(const Location& folder) const {
  require_not_refused(folder);
  fail_unlisted(folder);
}

std::vector<Location> HttpStore::match(const Location& pattern) const {
  // A question mark alone begins a query, so that what is wrong is something else.
  if (pattern.text().find_first_of("*[") == std::string::npos) objects_->require(object_at(pattern), "open");
  fail_unlisted(pattern);
}

std::shared_ptr<Source> HttpStore::open(const Location& at) const {
  if (is_folder_url(at)) fail(ErrorKind::kUsage, "'{}' is a folder, but a file is needed", at);
  return objects_->open(object_at(at));
}

std::shared_ptr<Source> HttpStore::open_folder(const Location& folder) const {
  require_not_refused(folder);
  return std::make_shared<WebFolderSource>(objects_, folder.text() + (folder.text().ends_with('/') ? "" : "/"));
}

std::unique_ptr<ObjectWriter> HttpStore::put(const Location& at) const { fail_read_only(at); }

void HttpStore::remove(const Location& at) const { fail_read_only(at); }

}  // namespace stoker
