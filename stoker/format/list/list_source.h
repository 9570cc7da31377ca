// What a list stands for: its own text, and the files that it names as parts.
#pragma once

#include <memory>
#include <utility>

#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any, after read_anywhere().
class ListSource final : public Source {
 public:
  /// Parts are files in `folder`, where the list is. `anywhere`: the folder of all files, or null where there is none.
  ListSource(std::shared_ptr<Source> list, std::shared_ptr<Source> folder, std::shared_ptr<Source> anywhere)
      : list_(std::move(list)), folder_(std::move(folder)), anywhere_(std::move(anywhere)) {}

  bool can_read_anywhere() const { return anywhere_ != nullptr; }
  /// From now on parts are files in the folder of all files.
  void read_anywhere() { folder_ = anywhere_; }

  const std::string& name() const override { return list_->name(); }
  std::string name_of(std::string_view part) const override {
    return folder_ == anywhere_ ? '/' + std::string(part) : folder_->name_of(part);
  }
  /// Of the list itself, without a part.
  std::uint64_t size(std::string_view part = {}) const override { return of(part).size(part); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return of(part).identity(part); }
  void start(ReadRequest& request) override { of(request.part).start(request); }
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override {
    of(part).will_need(offset, length, part);
  }
  std::uint64_t gap_worth_reading() const override { return list_->gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return list_->gap_in_turn(); }
  bool is_remote() const override { return list_->is_remote(); }
  std::string_view io_name() const override { return folder_->io_name(); }

 private:
  Source& of(std::string_view part) const { return part.empty() ? *list_ : *folder_; }

  std::shared_ptr<Source> list_, folder_, anywhere_;
};

}  // namespace stoker
