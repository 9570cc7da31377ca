// Objects that web servers serve, "http://..." and "https://...": one store for each scheme. They can be examined and
// read by range, neither listed nor written.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
  /// HTTP has no way to list: they throw kUsage, which says how to name shards.
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  /// They throw kUsage.
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return objects_.meter(); }

 private:
  const std::string scheme_;
  const HttpObjects objects_;
};

}  // namespace stoker
