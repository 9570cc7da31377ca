#include "stoker/storage/http/http_folder.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/http/http_part_read.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/shown_url.h"

namespace stoker {

HttpObject HttpFolderSource::require_object(std::string_view part) const {
  if (part.empty()) fail(ErrorKind::kNotFound, "'{}' is a folder; a read must name a file in it", name_);
  return object_of(part);
}

std::uint64_t HttpFolderSource::size(std::string_view part) const {
  return objects_->require(require_object(part), "look at").facts.size;
}

void HttpFolderSource::start(ReadRequest& request) {
  std::unique_ptr<HttpSource> object;
  request.error = thrown_by([&] { object = objects_->open_unseen(require_object(request.part)); });
  if (request.error) return request.done(request);
  start_part(std::move(object), *this, request);
}

WebFolderSource::WebFolderSource(std::shared_ptr<const HttpObjects> objects, std::string url)
    : HttpFolderSource(std::move(objects), shown_url(url)), url_(std::move(url)) {}

std::unique_ptr<Folder> WebFolderSource::list(std::string_view part) const {
  fail_unlisted(Location(url_ + std::string(part)));
}

HttpObject WebFolderSource::object_of(std::string_view part) const {
  return {.url = url_ + escaped_for_url(part, true), .name = name_of(part)};
}

void fail_unlisted(const Location& at) {
  fail(ErrorKind::kUsage,
       "'{}' cannot be listed, since web servers have no listing of their own; name the shards, as in "
       "'{}://host/shard-{{000..099}}.tar', or give a text file of URLs",
       at, at.scheme());
}

}  // namespace stoker
