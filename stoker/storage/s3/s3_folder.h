// What lies under a prefix of a bucket: listed like a folder, and read like one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/storage/http/http_folder.h"
#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/s3/replies.h"
#include "stoker/storage/s3/s3_bucket.h"

namespace stoker {

/// What the keys of a folder's objects begin with: the key itself, with a slash at its end unless it is empty.
std::string folder_prefix(std::string key);

struct Listing {
  std::string prefix;
  std::string_view delimiter{};     // "/": of what begins with the prefix up to the next slash
  int entries = 1000;               // of a page, at most
  std::string_view doing = "list";  // for messages
};

FoundObject found_by(const ListedObject& listed);

/// Looks at what is directly under a prefix that is empty or ends in a slash, and remembers the whole if it is found
/// within so many pages. Returns whether there is anything. Throws as list_pages().
bool look_at_folder(const HttpObjects& objects, const S3Bucket& bucket, const std::string& prefix, int pages,
                    std::string_view doing);

/// Looks at what may be a folder, by its key with or without a slash at its end, and fetches the file of that name in
/// it, if it is small, all in one round trip. What came of it is remembered, what is refused is not. Throws kIo when
/// the store does not answer.
void look_at_folder_with_file(const HttpObjects& objects, const S3Bucket& bucket, const std::string& key,
                              std::string_view file);

/// Calls `take` with each page, until it returns false. Throws kNotFound or kIo: "cannot `doing` 's3://...': why".
void list_pages(const HttpObjects& objects, const S3Bucket& bucket, const Listing& listing,
                const std::function<bool(ListingPage&)>& take);

/// Threads: one at a time.
class S3Folder final : public Folder {
 public:
  /// `prefix`: empty, or ends in a slash.
  S3Folder(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket, std::string prefix);

  File look_at(std::string_view name) const override;
  std::size_t read(std::string_view name, MutableBytes into) const override;

 private:
  const std::shared_ptr<const HttpObjects> objects_;
  const std::shared_ptr<const S3Bucket> bucket_;
  const std::string prefix_;
  std::map<std::string, std::uint64_t, std::less<>> sizes_;
};

class S3FolderSource final : public HttpFolderSource {
 public:
  S3FolderSource(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket,
                 std::string prefix);

  std::unique_ptr<Folder> list(std::string_view part) const override;

 private:
  HttpObject object_of(std::string_view part) const override;

  const std::shared_ptr<const S3Bucket> bucket_;
  const std::string prefix_;
};

}  // namespace stoker
