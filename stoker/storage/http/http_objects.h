// Objects that are reached over HTTP: what every store that is made of them does with one of them.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/http/http_source.h"
#include "stoker/storage/store.h"

namespace stoker {

/// What is there, as it was found.
struct FoundObject {
  ObjectFacts facts;
  ObjectVersion version;
};

/// What is directly in a folder, by URL: objects, and folders with a slash at their end.
using FolderContents = std::set<std::string, std::less<>>;

enum class Presence { kUnknown, kAbsent, kObject, kFolder };

/// Threads: any.
class HttpObjects {
 public:
  explicit HttpObjects(std::shared_ptr<HttpTransport> transport) : transport_(std::move(transport)) {}

  HttpTransport& transport() const { return *transport_; }
  std::shared_ptr<const TrafficMeter> meter() const { return transport_; }

  /// Nothing, and the `refusal`, where the server answered that it has nothing, or that we may not see it. Throws what
  /// else prevents an answer: "cannot `doing` 'name': why". What was found is remembered for a minute: a data set looks
  /// at a shard several times while it is opened.
  std::optional<FoundObject> find(const HttpObject& object, std::string_view doing, std::exception_ptr& refusal) const;
  /// The same, but throws the refusal.
  FoundObject require(const HttpObject& object, std::string_view doing) const;
  /// Finds all of them at once. Never fails.
  void expect(const std::vector<HttpObject>& objects) const;
  void remember(const HttpObject& object, FoundObject found) const;
  /// The whole of a folder was seen, so that what else is asked for there is absent, for a minute, too.
  void remember_folder(const HttpObject& folder, FolderContents contents) const;
  Presence presence(const HttpObject& object) const;
  /// It was written or removed.
  void forget(const HttpObject& object) const;

  /// For reading by range. Throws as require().
  std::shared_ptr<Source> open(const HttpObject& object) const;
  /// Of whichever version is there.
  std::unique_ptr<HttpSource> open_unseen(const HttpObject& object) const;

 private:
  struct Remembered {
    FoundObject found;
    std::int64_t until_ns = 0;
  };
  struct RememberedFolder {
    FolderContents contents;
    std::int64_t until_ns = 0;
  };

  std::optional<FoundObject> ask(const HttpObject& object, std::string_view doing, std::exception_ptr& refusal) const;
  std::optional<FoundObject> remembered(const HttpObject& object) const;

  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<HttpParts> parts_ = std::make_shared<HttpParts>();
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, Remembered> found_;          // by URL
  mutable std::map<std::string, RememberedFolder> folders_;  // by URL, with a slash at its end
};

}  // namespace stoker
