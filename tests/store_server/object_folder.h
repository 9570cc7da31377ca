// A folder as a web server and as S3 present it: objects by name and range, with tags, and, for its first folders as
// buckets, S3's listing. Signatures are accepted, and not looked at.
#pragma once

#include <filesystem>
#include <string>

#include "tests/store_server/answer.h"
#include "tests/store_server/request_head.h"

namespace stoker {

class ObjectFolder {
 public:
  explicit ObjectFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Answer answer(const RequestHead& asked) const;

 private:
  Answer object(const RequestHead& asked) const;
  Answer listing(const RequestHead& asked) const;

  std::filesystem::path folder_;
};

}  // namespace stoker
