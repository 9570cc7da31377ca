// Where an "hf://" location lies on the Hugging Face hub, read as huggingface_hub's HfFileSystem does: a repository, a
// revision of it, a path in that. And the URLs by which the hub answers for these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/storage/location.h"

namespace stoker {

/// Whether the revision is a commit, written in full: it always means the same files.
bool is_hf_commit(std::string_view revision);

struct HfRepository {
  enum class Kind { kModel, kDataset, kSpace };

  Kind kind = Kind::kModel;
  std::string name{};             // "OWNER/NAME"
  std::string revision = "main";  // a branch, a tag, a commit, or "refs/convert/parquet"

  bool operator==(const HfRepository&) const = default;
  /// "data set", "model", "space": for messages.
  std::string_view kind_name() const;
};

struct HfPath {
  HfRepository repository{};
  std::string path{};  // "train/a.tar": without a slash at either end; empty for the repository
  std::string root{};  // what precedes the path as it was written: "hf://datasets/OWNER/NAME@REVISION"
};

/// Of "hf://datasets/OWNER/NAME[@REVISION]/PATH", and the same with "spaces/" or, for models, without a word before the
/// owner. The slashes of a revision are written as %2F, but for those of "refs/convert/NAME" and "refs/pr/NUMBER".
/// Nothing for what is not of that form.
std::optional<HfPath> parse_hf_path(const Location& at);
/// The same, but throws kUsage, saying how such a location is written.
HfPath require_hf_path(const Location& at);

/// Each at `endpoint`, "https://huggingface.co".
std::string hf_page_url(std::string_view endpoint, const HfRepository& repository);
/// Tells the commit of the repository's revision.
std::string hf_revision_url(std::string_view endpoint, const HfRepository& repository);
/// Lists a folder at a commit.
std::string hf_tree_url(std::string_view endpoint, const HfRepository& repository, std::string_view commit,
                        std::string_view folder, bool recursive);
/// Has a file at a commit.
std::string hf_file_url(std::string_view endpoint, const HfRepository& repository, std::string_view commit,
                        std::string_view path);

}  // namespace stoker
