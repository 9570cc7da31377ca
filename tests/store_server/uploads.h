// Uploads in parts that were begun in a store and not ended yet, and what S3 answers about them.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/store_server/answer.h"
#include "tests/store_server/request_head.h"

namespace stoker {

/// The MD5 sum of the content, in quotes, as stores tag what is written to them at once.
std::string content_tag(std::string_view content);

class Uploads {
 public:
  struct Whole {
    std::string content, tag;
  };

  std::size_t size() const { return uploads_.size(); }
  Answer begin(const RequestHead& asked);
  Answer take_part(const RequestHead& asked, std::string body);
  /// The object, of which the upload is gone then; nothing, and the refusal in `answer`, where `list` names other parts
  /// than there are.
  std::optional<Whole> complete(const RequestHead& asked, std::string_view list, Answer& answer);
  Answer abort(const RequestHead& asked);
  /// Those of a bucket by its path.
  Answer list(const RequestHead& asked) const;

 private:
  struct Part {
    std::string content, tag;
  };
  struct Upload {
    std::time_t begun = 0;
    std::map<int, Part> parts{};
  };
  using Key = std::pair<std::string, std::string>;  // the object's path, and the upload's identity

  static Key key_of(const RequestHead& asked) { return {asked.path, asked.queried("uploadId")}; }

  std::map<Key, Upload> uploads_;
  int begun_ = 0;
};

}  // namespace stoker
