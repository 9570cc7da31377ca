#include "stoker/storage/http/http_folder.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/http/http_part_read.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/shown_url.h"

namespace stoker {

void fail_unlisted(const Location& at) {
  fail(ErrorKind::kUsage,
       "'{}' cannot be listed, since web servers have no listing of their own; name the shards, as in "
       "'{}://host/shard-{{000..099}}.tar', or give a text file of URLs",
       at, at.scheme());
}

HttpFolderSource::HttpFolderSource(std::shared_ptr<const HttpObjects> objects, std::string url)
    : objects_(std::move(objects)), url_(std::move(url)), name_(shown_url(url_)) {}

HttpObject HttpFolderSource::object_of(std::string_view part) const {
  if (part.empty()) fail(ErrorKind::kNotFound, "'{}' is a folder; a read must name a file in it", name_);
  return {.url = url_ + escaped_for_url(part, true), .name = name_of(part)};
}

std::uint64_t HttpFolderSource::size(std::string_view part) const {
  return objects_->require(object_of(part), "look at").facts.size;
}

std::unique_ptr<Folder> HttpFolderSource::list(std::string_view part) const {
  fail_unlisted(Location(url_ + std::string(part)));
}

void HttpFolderSource::start(ReadRequest& request) {
  std::unique_ptr<HttpSource> object;
  request.error = thrown_by([&] { object = objects_->open_unseen(object_of(request.part)); });
  if (request.error) return request.done(request);
  start_part(std::move(object), *this, request);
}

}  // namespace stoker
