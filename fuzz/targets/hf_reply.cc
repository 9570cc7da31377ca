// What the Hugging Face hub answers, as a listing, as a commit and as the link to a page; and locations on it.
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "stoker/storage/hf/hf_path.h"
#include "stoker/storage/hf/hf_reply.h"

namespace stoker {
namespace {

constexpr std::string_view kHub = "https://hub.invalid";

bool leads_out(std::string_view path) {
  return path.starts_with('/') || path.ends_with('/') || path == ".." || path.starts_with("../") ||
         path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

void check_listing(std::string_view json) {
  accepts({ErrorKind::kData}, [&] {
    for (const HfEntry& entry : parse_hf_tree(json)) {
      require_that(!entry.path.empty() && !leads_out(entry.path), "an entry lies in its repository");
      require_that(!entry.is_folder || (entry.size == 0 && entry.tag.empty()), "a folder has no content");
    }
  });
  accepts({ErrorKind::kData},
          [&] { require_that(is_hf_commit(parse_hf_commit(json)), "a commit is written in full"); });
}

void check_link(std::string_view field) {
  accepts({ErrorKind::kData}, [&] {
    if (const auto next = parse_hf_next(field)) {
      require_that(next->starts_with('?') && next->find_first_of(" \t\r\n#") == std::string::npos,
                   "a page has a query");
    }
  });
}

void check_location(std::string_view text) {
  const auto found = parse_hf_path(Location(std::string(text)));
  if (!found) return;
  require_that(text.starts_with(found->root), "a location begins with its repository");
  require_that(!leads_out(found->path), "a location lies in its repository");
  const auto again = parse_hf_path(Location(found->root + "/" + found->path));
  require_that(again && again->path == found->path && again->repository == found->repository,
               "the path of a location is a path in its repository");
  for (const std::string& url : {hf_revision_url(kHub, found->repository), hf_page_url(kHub, found->repository),
                                 hf_file_url(kHub, found->repository, "commit", found->path),
                                 hf_tree_url(kHub, found->repository, "commit", found->path, true)}) {
    require_that(url.starts_with(kHub) && url.find_first_of(" \t\r\n#\"<>") == std::string::npos,
                 "a URL needs no more quoting");
  }
}

void run(Bytes input) {
  const std::string_view text = as_text(input);
  check_listing(text);
  check_link(text);
  check_location(text);
}

const AnnounceFuzzTarget kTarget({.name = "hf_reply", .run = run});

}  // namespace
}  // namespace stoker
