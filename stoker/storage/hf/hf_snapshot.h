// A repository of the Hugging Face hub at one commit, which never changes: what was listed once stays true.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/storage/hf/hf_dialect.h"
#include "stoker/storage/hf/hf_reply.h"
#include "stoker/storage/http/http_source.h"

namespace stoker {

/// What was asked for, or why the hub refuses it: an Error of kind kNotFound or kIo.
template <typename T>
struct HfAnswer {
  std::optional<T> value{};
  std::exception_ptr refusal{};

  /// Throws the refusal.
  const T& require() const {
    if (!value) std::rethrow_exception(refusal);
    return *value;
  }
};

/// What is asked, for messages: "cannot `doing` 'name': ...".
struct HfQuestion {
  std::string_view doing;
  std::string name;  // of the location
};

/// What `parse` makes of the reply to it: an Error of it names the question.
template <typename Parse>
auto parse_reply(const HfQuestion& question, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw error.with_context(fmt::format("cannot {} '{}'", question.doing, question.name));
  }
}

struct HfReply {
  std::string text;
  std::string next;  // the field Link
};

/// Asks the hub's API. Throws where no answer comes: kIo, kClosed.
HfAnswer<HfReply> ask_hub(HttpTransport& transport, const HfDialect& dialect, std::string_view url,
                          const HfQuestion& question, ResponseHead* head = nullptr);

/// Entries in the order of their paths.
class HfListing {
 public:
  explicit HfListing(std::vector<HfEntry> entries);

  /// Null where there is none.
  const HfEntry* find(std::string_view path) const;
  const std::vector<HfEntry>& entries() const { return entries_; }

 private:
  std::vector<HfEntry> entries_;
};

/// Threads: any. Those that need the same folder wait until one of them has listed it.
class HfSnapshot {
 public:
  HfSnapshot(HfRepository repository, std::string commit, const HfAccess& access,
             std::shared_ptr<HttpTransport> transport);

  const HfRepository& repository() const { return repository_; }
  const std::string& commit() const { return commit_; }

  /// The entry of that path, which is not empty; a refusal where there is none. Throws as ask_hub().
  HfAnswer<HfEntry> find(const std::string& path, const HfQuestion& question) const;
  /// What lies directly in the folder, or with `recursive` also below it; null where there is no such folder. Only the
  /// former is remembered.
  HfAnswer<std::shared_ptr<const HfListing>> list(const std::string& folder, bool recursive,
                                                  const HfQuestion& question) const;

  /// A file of that size, for reading; `name`: for messages.
  std::unique_ptr<HttpSource> open(const HfEntry& file, std::string name) const;
  /// A number that all folders of that path at that commit have, and no other.
  std::uint64_t number_of(std::string_view folder) const;

 private:
  HfAnswer<std::shared_ptr<const HfListing>> ask(const std::string& folder, bool recursive,
                                                 const HfQuestion& question) const;

  const HfRepository repository_;
  const std::string commit_, endpoint_;
  const std::shared_ptr<const HfDialect> dialect_;
  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<HttpParts> parts_ = std::make_shared<HttpParts>();
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const HfListing>> folders_;  // null: there is none
};

}  // namespace stoker
