// Files at URLs below that of a folder, for a list that names them: read like a folder of loose files, but not listed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/location.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Throws kUsage, which says how to name shards where nothing can be listed.
[[noreturn]] void fail_unlisted(const Location& at);

/// Threads: any. Each part is an object, whose version is not known before it is read.
class HttpFolderSource final : public Source {
 public:
  /// `url`: up to a slash at its end. `objects`: a store's, which outlives it or shares it.
  HttpFolderSource(std::shared_ptr<const HttpObjects> objects, std::string url);

  const std::string& name() const override { return name_; }
  std::string name_of(std::string_view part) const override { return name_ + std::string(part); }
  std::uint64_t size(std::string_view part) const override;
  std::unique_ptr<Folder> list(std::string_view part) const override;
  void start(ReadRequest& request) override;
  bool is_remote() const override { return true; }
  std::string_view io_name() const override { return "http"; }

 private:
  HttpObject object_of(std::string_view part) const;

  const std::shared_ptr<const HttpObjects> objects_;
  const std::string url_, name_;
};

}  // namespace stoker
