// Bytes in memory as a source; reads complete before start() returns.
#pragma once

#include <utility>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

class MemorySource final : public Source {
 public:
  MemorySource(std::string name, std::vector<std::uint8_t> bytes, bool is_remote = false)
      : name_(std::move(name)), bytes_(std::move(bytes)), is_remote_(is_remote) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view part = {}) const override;
  void start(ReadRequest& request) override;
  bool is_remote() const override { return is_remote_; }

 private:
  std::string name_;
  std::vector<std::uint8_t> bytes_;
  bool is_remote_;
};

}  // namespace stoker
