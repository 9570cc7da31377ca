// Objects that web servers serve, "http://..." and "https://...": one store for each scheme. They can be examined and
// read by range, neither listed nor written.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/home_process.h"
#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/store.h"

namespace stoker {

class HttpStore final : public Store {
 public:
  /// `scheme`: "http" or "https", whose stores may share a transport.
  HttpStore(std::string scheme, std::shared_ptr<HttpTransport> transport);

  std::string_view scheme() const override { return scheme_; }
  /// A URL that ends in a slash is a folder, which may hold a manifest. Throws kIo when the server does not answer, and
  /// kClosed when the transport was stopped.
  std::optional<ObjectFacts> find(const Location& at) const override;
  /// Throws also kIo when the server refuses, saying what to check.
  ObjectFacts stat(const Location& at, std::string_view doing) const override;
  void expect(std::span<const Location> objects) const override;
  /// HTTP has no way to list: they throw kUsage, which says how to name shards; or what the server had against the file
  /// that was expected in the folder.
  bool can_list() const override { return false; }
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  /// Of which parts are read, and nothing is listed.
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  /// They throw kUsage.
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return objects_->meter(); }
  void expect_folder(const Location& folder, std::string_view file) const override;

 private:
  void require_not_refused(const Location& folder) const;

  const std::string scheme_;
  const std::shared_ptr<const HttpObjects> objects_;
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::exception_ptr> refusals_;  // by folder: what came of the file in it
};

}  // namespace stoker
