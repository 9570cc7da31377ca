// Objects that web servers serve, "http://..." and "https://...": one store for each scheme. They can be examined and
// read by range, neither listed nor written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/storage/http/http_source.h"
#include "stoker/storage/store.h"

namespace stoker {

class HttpStore final : public Store {
 public:
  /// `scheme`: "http" or "https", whose stores may share a transport.
  HttpStore(std::string scheme, std::shared_ptr<HttpTransport> transport);

  std::string_view scheme() const override { return scheme_; }
  /// A URL that ends in a slash is a folder, which may hold a manifest. What was found is remembered for a minute: a
  /// data set looks at a shard several times while it is opened. Throws kIo when the server does not answer, and
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
  /// Throws kUsage.
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return transport_; }

 private:
  struct Found {
    ObjectFacts facts;
    ObjectVersion version;
    std::int64_t until_ns = 0;  // it is remembered
  };
  static Found found_by(const ResponseHead& head, std::uint64_t size);

  /// Nothing, and the `refusal`, where the server answered that it has nothing, or that we may not see it. Throws what
  /// else prevents an answer.
  std::optional<Found> look_at(const Location& at, std::string_view doing, std::exception_ptr& refusal) const;
  std::optional<Found> ask(const Location& at, std::string_view doing, std::exception_ptr& refusal) const;
  Found require_found(const Location& at, std::string_view doing) const;
  std::optional<Found> remembered(const Location& at) const;
  void remember(const Location& at, Found found) const;

  const std::string scheme_;
  const std::shared_ptr<HttpTransport> transport_;
  const std::shared_ptr<HttpParts> parts_ = std::make_shared<HttpParts>();
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, Found> found_;
};

}  // namespace stoker
