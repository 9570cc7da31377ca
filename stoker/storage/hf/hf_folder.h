// A folder of a repository on the Hugging Face hub: listed, and read like a folder of loose files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stoker/storage/folder.h"
#include "stoker/storage/hf/hf_snapshot.h"

namespace stoker {

/// Threads: one at a time.
class HfFolder final : public Folder {
 public:
  /// `listing`: of this folder, or of one that it lies in with all that is below. `name`: of this one, for messages.
  HfFolder(std::shared_ptr<const HfSnapshot> snapshot, std::shared_ptr<const HfListing> listing,
           std::string_view folder, std::string name);

  File look_at(std::string_view name) const override;
  std::size_t read(std::string_view name, MutableBytes into) const override;

 private:
  const HfEntry& require(std::string_view name) const;

  const std::shared_ptr<const HfSnapshot> snapshot_;
  const std::shared_ptr<const HfListing> listing_;
  const std::string folder_, name_;
};

class HfFolderSource final : public Source {
 public:
  /// `listing`: of the folder with all that is below.
  HfFolderSource(std::shared_ptr<const HfSnapshot> snapshot, std::shared_ptr<const HfListing> listing,
                 std::string_view folder, std::string name);

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view part) const override;
  std::unique_ptr<Folder> list(std::string_view part) const override;
  /// Each read is a request for the part, by a source that is made for it.
  void start(ReadRequest& request) override;
  bool is_remote() const override { return true; }
  std::string_view io_name() const override { return "http"; }

 private:
  const HfEntry& require(std::string_view part) const;
  std::string name_of(std::string_view part) const override;

  const std::shared_ptr<const HfSnapshot> snapshot_;
  const std::shared_ptr<const HfListing> listing_;
  const std::string folder_, name_;
};

}  // namespace stoker
