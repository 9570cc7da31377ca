#include "stoker/storage/s3/s3_folder.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/storage/http/http_part_read.h"

namespace stoker {
namespace {

constexpr std::uint64_t kRememberedBytes = 1 << 20;  // shards, which are examined next, and not millions of pictures
constexpr std::size_t kPageBytesMax = 16 << 20;      // a page has 1,000 keys of 1 KB, escaped, at most

void require_prefix(const ListingPage& page, std::string_view prefix, std::string_view name) {
  const auto refuse = [&](const std::string& key) {
    fail(ErrorKind::kIo, "cannot list '{}': the store's answer has '{}', which does not begin so", name, escaped(key));
  };
  for (const ListedObject& object : page.objects) {
    if (!object.key.starts_with(prefix)) refuse(object.key);
  }
  for (const std::string& folder : page.folders) {
    if (!folder.starts_with(prefix) || folder.size() == prefix.size()) refuse(folder);
  }
}

}  // namespace

std::string folder_prefix(std::string key) {
  if (!key.empty() && key.back() != '/') key += '/';
  return key;
}

void list_pages(const HttpObjects& objects, const S3Bucket& bucket, const Listing& listing,
                const std::function<bool(ListingPage&)>& take) {
  const std::string name = bucket.location_of(listing.prefix);
  std::string next, reply;
  do {
    NamedTexts query{{"encoding-type", "url"}, {"list-type", "2"}, {"max-keys", std::to_string(listing.entries)}};
    if (!listing.prefix.empty()) query.emplace_back("prefix", listing.prefix);
    if (!listing.delimiter.empty()) query.emplace_back("delimiter", listing.delimiter);
    if (!next.empty()) query.emplace_back("continuation-token", next);
    const HttpObject listed = bucket.object("", query);
    const std::shared_ptr<HttpHost> host = objects.transport().host_of(listed.url);
    HttpCall call;
    call.url = listed.url;
    call.name = name;
    call.doing = listing.doing;
    call.host = host.get();
    call.dialect = &bucket;
    call.reply = &reply;
    call.reply_max = kPageBytesMax;
    call.keeps_fields = true;
    objects.transport().perform(call);
    if (call.error) std::rethrow_exception(call.error);
    ListingPage page = parse_listing(reply, name);
    require_prefix(page, listing.prefix, name);
    next = page.next;
    if (!take(page)) return;
  } while (!next.empty());
}

FoundObject found_by(const ListedObject& listed) {
  return {.facts = {.size = listed.size, .modified = listed.modified, .tag = listed.tag},
          .version = {.size = listed.size, .tag = listed.tag}};
}

bool look_at_folder(const HttpObjects& objects, const S3Bucket& bucket, const std::string& prefix, int pages,
                    std::string_view doing) {
  FolderContents contents;
  bool is_whole = false;
  list_pages(objects, bucket, {.prefix = prefix, .delimiter = "/", .doing = doing}, [&](const ListingPage& page) {
    for (const ListedObject& listed : page.objects) {
      const HttpObject object = bucket.object(listed.key);
      objects.remember(object, found_by(listed));
      contents.insert(object.url);
    }
    for (const std::string& folder : page.folders) contents.insert(bucket.object(folder).url);
    is_whole = page.next.empty();
    return --pages > 0;
  });
  const bool any = !contents.empty();
  if (is_whole) objects.remember_folder(bucket.object(prefix), std::move(contents));
  return any;
}

S3Folder::S3Folder(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket,
                   std::string prefix)
    : Folder({0, std::hash<std::string>()(bucket->location_of(prefix))}),
      objects_(std::move(objects)),
      bucket_(std::move(bucket)),
      prefix_(std::move(prefix)) {
  list_pages(*objects_, *bucket_, {.prefix = prefix_, .delimiter = "/"}, [&](const ListingPage& page) {
    for (const std::string& folder : page.folders) {
      add({.name = std::string_view(folder).substr(prefix_.size(), folder.size() - prefix_.size() - 1),
           .is_folder = true});
    }
    for (const ListedObject& object : page.objects) {
      const std::string_view name = std::string_view(object.key).substr(prefix_.size());
      if (name.empty()) continue;  // consoles make an object of this name to show an empty folder
      add({.name = name});
      sizes_.emplace(name, object.size);
      if (object.size >= kRememberedBytes) objects_->remember(bucket_->object(object.key), found_by(object));
    }
    return true;
  });
}

Folder::File S3Folder::look_at(std::string_view name) const {
  const auto found = sizes_.find(name);
  if (found == sizes_.end()) fail(ErrorKind::kNotFound, "there is no '{}{}'", bucket_->location_of(prefix_), name);
  return {.length = found->second};
}

std::size_t S3Folder::read(std::string_view name, MutableBytes into) const {
  const std::size_t count = std::min<std::size_t>(look_at(name).length, into.size());
  if (count == 0) return 0;
  const auto source = objects_->open_unseen(bucket_->object(prefix_ + std::string(name)));
  read_fully(*source, 0, into.first(count));
  return count;
}

S3FolderSource::S3FolderSource(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket,
                               std::string prefix)
    : objects_(std::move(objects)),
      bucket_(std::move(bucket)),
      prefix_(std::move(prefix)),
      name_(bucket_->location_of(prefix_)) {}

HttpObject S3FolderSource::object_of(std::string_view part) const {
  if (part.empty()) fail(ErrorKind::kNotFound, "'{}' is a folder; a read must name a file in it", name_);
  return bucket_->object(prefix_ + std::string(part));
}

std::uint64_t S3FolderSource::size(std::string_view part) const {
  return objects_->require(object_of(part), "look at").facts.size;
}

std::unique_ptr<Folder> S3FolderSource::list(std::string_view part) const {
  return std::make_unique<S3Folder>(objects_, bucket_, folder_prefix(prefix_ + std::string(part)));
}

void S3FolderSource::start(ReadRequest& request) {
  std::unique_ptr<HttpSource> object;
  request.error = thrown_by([&] { object = objects_->open_unseen(object_of(request.part)); });
  if (request.error) return request.done(request);
  start_part(std::move(object), *this, request);
}

}  // namespace stoker
