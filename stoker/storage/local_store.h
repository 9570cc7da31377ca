// The local file system as a store.
#pragma once

#include "stoker/storage/file_access.h"
#include "stoker/storage/store.h"

namespace stoker {

class LocalStore final : public Store {
 public:
  explicit LocalStore(FileAccess access, std::string_view writer = {}) : access_(std::move(access)), writer_(writer) {}

  std::string_view scheme() const override { return {}; }
  std::optional<ObjectFacts> find(const Location& at) const override;
  ObjectFacts stat(const Location& at, std::string_view doing) const override;
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  std::shared_ptr<Source> open_for_samples(const std::shared_ptr<Source>& opened) const override;
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  void remove_unfinished(const Location& folder) const override;
  void create_folder(const Location& folder) const override;
  bool lies_in(const Location& inner, const Location& folder) const override;
  std::shared_ptr<const Store> for_writer(std::string_view writer) const override {
    return std::make_shared<LocalStore>(access_, writer);
  }

 private:
  FileAccess access_;
  std::string writer_;  // among several that write the same objects
};

}  // namespace stoker
