// A folder as a web server and as S3 present it: objects by name and range, with tags, and, for its first folders as
// buckets, S3's listing and its ways to write. Signatures are accepted, and not looked at; bodies must have their
// digest.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tests/store_server/answer.h"
#include "tests/store_server/request_head.h"
#include "tests/store_server/uploads.h"

namespace stoker {

class ObjectFolder {
 public:
  explicit ObjectFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Answer answer(const RequestHead& asked, std::string body);
  std::size_t open_uploads() const { return uploads_.size(); }

 private:
  Answer object(const RequestHead& asked) const;
  Answer listing(const RequestHead& asked) const;
  Answer write(const RequestHead& asked, std::string body);
  void put(const std::filesystem::path& path, std::string_view content, std::string tag);
  std::string tag_at(const std::filesystem::path& path, const struct stat& facts) const;

  std::filesystem::path folder_;
  Uploads uploads_;                                                            // in memory; objects are files
  std::map<std::filesystem::path, std::pair<std::string, std::string>> tags_;  // the file's, and the object's
};

}  // namespace stoker
