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

#include "stoker/storage/http/http_round.h"
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

/// What was seen of a folder.
struct SeenFolder {
  FolderContents contents;
  bool is_whole = false;      // there is nothing else in it
  bool is_no_object = false;  // nor is there an object of its name
};

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
  /// The same as a part of a round: what comes of the look is remembered by the second of these, which tells what it
  /// was.
  HttpCall& add_look(HttpRound& round, const HttpObject& object, std::string_view doing) const;
  Presence remember_look(const HttpObject& object, const HttpCall& ended) const;
  void remember(const HttpObject& object, FoundObject found) const;
  /// By the URL with a slash at its end; for a minute, too.
  void remember_folder(const HttpObject& folder, SeenFolder seen) const;
  /// By what was seen of folders.
  Presence presence(const HttpObject& object) const;
  /// The object's content, as it was at a version: open() takes it, once, where it finds the same version.
  void remember_content(const HttpObject& object, ObjectVersion version, std::string content) const;
  /// Whether anything is remembered.
  bool remembers() const { return home_.here(); }
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
    SeenFolder seen;
    std::int64_t until_ns = 0;
  };
  struct RememberedContent {
    ObjectVersion version;
    std::string content;
    std::int64_t until_ns = 0;
  };

  std::optional<FoundObject> ask(const HttpObject& object, std::string_view doing, std::exception_ptr& refusal) const;
  std::optional<FoundObject> remembered(const HttpObject& object) const;
  const SeenFolder* seen_folder(const std::string& url) const;
  std::optional<std::string> take_content(const HttpObject& object, const ObjectVersion& version) const;

  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<HttpParts> parts_ = std::make_shared<HttpParts>();
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, Remembered> found_;            // by URL
  mutable std::map<std::string, RememberedFolder> folders_;    // by URL, with a slash at its end
  mutable std::map<std::string, RememberedContent> contents_;  // by URL
};

}  // namespace stoker
