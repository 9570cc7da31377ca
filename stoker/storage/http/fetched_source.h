// An object that was fetched as a whole before it was opened: it is read from memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/storage/source.h"

namespace stoker {

class FetchedSource final : public Source {
 public:
  /// `content`: of the very version that `object` is of.
  FetchedSource(std::shared_ptr<const Source> object, std::string content)
      : object_(std::move(object)), content_(std::move(content)) {}

  const std::string& name() const override { return object_->name(); }
  std::uint64_t size(std::string_view part = {}) const override { return object_->size(part); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return object_->identity(part); }
  void start(ReadRequest& request) override;

 private:
  const std::shared_ptr<const Source> object_;
  const std::string content_;
};

}  // namespace stoker
