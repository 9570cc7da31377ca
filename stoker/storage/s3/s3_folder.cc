#include "stoker/storage/s3/s3_folder.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"

namespace stoker {
namespace {

constexpr std::uint64_t kRememberedBytes = 1 << 20;  // shards, which are examined next, and not millions of pictures
constexpr std::size_t kPageBytesMax = 16 << 20;      // a page has 1,000 keys of 1 KB, escaped, at most
constexpr std::size_t kSmallFileBytesMax = 4 << 20;  // the manifest of some 16,000 shards

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

/// What asks for a page; `after`: what the page before it said is next.
HttpObject page_object(const S3Bucket& bucket, const Listing& listing, const std::string& after) {
  NamedTexts query{{"encoding-type", "url"}, {"list-type", "2"}, {"max-keys", std::to_string(listing.entries)}};
  if (!listing.prefix.empty()) query.emplace_back("prefix", listing.prefix);
  if (!listing.delimiter.empty()) query.emplace_back("delimiter", listing.delimiter);
  if (!after.empty()) query.emplace_back("continuation-token", after);
  HttpObject page = bucket.object("", query);
  page.name = bucket.location_of(listing.prefix);
  return page;
}

HttpCall& add_page(HttpRound& round, const HttpObject& page, const Listing& listing, std::string& reply) {
  HttpCall& call = round.add(page, listing.doing);
  call.reply = &reply;
  call.reply_max = kPageBytesMax;
  return call;
}

ListingPage parsed_page(const std::string& reply, const Listing& listing, const std::string& name) {
  ListingPage page = parse_listing(reply, name);
  require_prefix(page, listing.prefix, name);
  return page;
}

/// Remembers what a page shows.
void see(const HttpObjects& objects, const S3Bucket& bucket, const ListingPage& page, SeenFolder& seen) {
  for (const ListedObject& listed : page.objects) {
    const HttpObject object = bucket.object(listed.key);
    objects.remember(object, found_by(listed));
    seen.contents.insert(object.url);
  }
  for (const std::string& folder : page.folders) seen.contents.insert(bucket.object(folder).url);
  seen.is_whole = page.next.empty();
}

/// Whether the body of an answer is the object itself.
bool is_object(const HttpCall& call, const std::string& body) {
  const ResponseHead& head = call.head;
  return !call.error && head.status == 200 && head.content_encoding.empty() &&
         head.content_length.value_or(body.size()) == body.size();
}

}  // namespace

std::string folder_prefix(std::string key) {
  if (!key.empty() && key.back() != '/') key += '/';
  return key;
}

void list_pages(const HttpObjects& objects, const S3Bucket& bucket, const Listing& listing,
                const std::function<bool(ListingPage&)>& take) {
  std::string next, reply;
  do {
    const HttpObject asked = page_object(bucket, listing, next);
    HttpRound round(objects.transport());
    const HttpCall& call = add_page(round, asked, listing, reply);
    round.run();
    if (call.error) std::rethrow_exception(call.error);
    ListingPage page = parsed_page(reply, listing, asked.name);
    if (!next.empty() && page.next == next) {
      fail(ErrorKind::kIo,
           "cannot list '{}': two of the store's answers go on in the same place, without end; check it", asked.name);
    }
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
  SeenFolder seen;
  list_pages(objects, bucket, {.prefix = prefix, .delimiter = "/", .doing = doing}, [&](const ListingPage& page) {
    see(objects, bucket, page, seen);
    return --pages > 0;
  });
  const bool any = !seen.contents.empty();
  objects.remember_folder(bucket.object(prefix), std::move(seen));
  return any;
}

void look_at_folder_with_file(const HttpObjects& objects, const S3Bucket& bucket, const std::string& key,
                              std::string_view file) {
  const Listing listing{.prefix = folder_prefix(key), .delimiter = "/", .doing = "look at"};
  const HttpObject itself = bucket.object(key), in_it = bucket.object(listing.prefix + std::string(file));
  const HttpObject first_page = page_object(bucket, listing, "");
  std::string reply, content;
  HttpRound round(objects.transport());
  const HttpCall* const look = key == listing.prefix ? nullptr : &objects.add_look(round, itself, "look at");
  const HttpCall& page = add_page(round, first_page, listing, reply);
  HttpCall& fetch = round.add(in_it, "read");
  fetch.reply = &content;
  fetch.reply_max = kSmallFileBytesMax;
  round.run();
  // Others are told where it is asked for by itself; but what does not answer is not to be waited for twice.
  for (const HttpCall* const call : {look, &page}) {
    if (call && call->error && !call->is_final) std::rethrow_exception(call->error);
  }

  SeenFolder seen{.contents = {}, .is_no_object = !look || objects.remember_look(itself, *look) == Presence::kAbsent};
  if (page.error) return;
  see(objects, bucket, parsed_page(reply, listing, first_page.name), seen);
  if (is_object(fetch, content) && (!seen.is_whole || seen.contents.contains(in_it.url))) {
    ObjectVersion version{.size = content.size(), .tag = fetch.head.tag};
    objects.remember_content(in_it, std::move(version), std::move(content));
  }
  objects.remember_folder(bucket.object(listing.prefix), std::move(seen));
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
    : HttpFolderSource(std::move(objects), bucket->location_of(prefix)),
      bucket_(std::move(bucket)),
      prefix_(std::move(prefix)) {}

HttpObject S3FolderSource::object_of(std::string_view part) const {
  return bucket_->object(prefix_ + std::string(part));
}

std::unique_ptr<Folder> S3FolderSource::list(std::string_view part) const {
  return std::make_unique<S3Folder>(objects(), bucket_, folder_prefix(prefix_ + std::string(part)));
}

}  // namespace stoker
