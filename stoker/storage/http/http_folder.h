// Folders whose files are objects of their own, reached over HTTP: read like a folder of loose files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/location.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any. Each part is an object, whose version is not known before it is read.
class HttpFolderSource : public Source {
 public:
  const std::string& name() const final { return name_; }
  std::uint64_t size(std::string_view part) const final;
  void start(ReadRequest& request) final;
  bool is_remote() const final { return true; }
  std::string_view io_name() const final { return "http"; }

 protected:
  HttpFolderSource(std::shared_ptr<const HttpObjects> objects, std::string name)
      : objects_(std::move(objects)), name_(std::move(name)) {}

  const std::shared_ptr<const HttpObjects>& objects() const { return objects_; }

 private:
  /// Of a part that has a name.
  virtual HttpObject object_of(std::string_view part) const = 0;
  HttpObject require_object(std::string_view part) const;

  const std::shared_ptr<const HttpObjects> objects_;
  const std::string name_;
};

/// Files at URLs below one, for a list that names them. They are not listed.
class WebFolderSource final : public HttpFolderSource {
 public:
  /// `url`: up to a slash at its end.
  WebFolderSource(std::shared_ptr<const HttpObjects> objects, std::string url);

  std::string name_of(std::string_view part) const override { return name() + std::string(part); }
  /// Throws as fail_unlisted().
  std::unique_ptr<Folder> list(std::string_view part) const override;

 private:
  HttpObject object_of(std::string_view part) const override;

  const std::string url_;
};

/// Throws kUsage, which says how to name shards where nothing can be listed.
[[noreturn]] void fail_unlisted(const Location& at);

}  // namespace stoker
