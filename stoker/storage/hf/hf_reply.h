// What the hub's API answers: JSON, and where a long listing goes on. A server writes it, so it may say anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// A file or a folder of a repository, at one commit.
struct HfEntry {
  std::string path{};  // in the repository
  bool is_folder = false;
  std::uint64_t size = 0;  // of a file: of its content, wherever the hub keeps that
  std::string tag{};       // of a file: changes with its content

  bool operator==(const HfEntry&) const = default;
};

/// One page of a listing. Throws kData if it is none.
std::vector<HfEntry> parse_hf_tree(std::string_view json);

/// The commit that the reply about a revision names. Throws kData if it names none.
std::string parse_hf_commit(std::string_view json);

/// The query of the page that follows, by the field `Link` of the answer: "?recursive=true&cursor=..."; nothing after
/// the last page. Its host is of no interest: a mirror hands out the links of the hub that it mirrors. Throws kData if
/// it cannot be read: a listing that seems to end would be taken for a whole one.
std::optional<std::string> parse_hf_next(std::string_view link);

}  // namespace stoker
