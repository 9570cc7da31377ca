#include "stoker/storage/hf/hf_dialect.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/escaped.h"
#include "stoker/storage/http/http_call.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

/// What the field X-Error-Code may say.
constexpr std::string_view kNoRepository = "RepoNotFound", kNoRevision = "RevisionNotFound", kNoEntry = "EntryNotFound",
                           kGated = "GatedRepo";

constexpr std::string_view kLogIn = "set HF_TOKEN, or log in with 'hf auth login'";

std::string described(const HfRepository& repository) {
  return fmt::format("{} '{}'", repository.kind_name(), repository.name);
}

}  // namespace

bool says_no_entry(const ResponseHead& head) {
  // Mirrors may not say what it is that is not there.
  return head.status == 404 && (head.error_code == kNoEntry || head.error_code.empty());
}

std::string no_entry_in(const HfRepository& repository) {
  return fmt::format("the {} has no such file or folder at revision '{}'; check the path", described(repository),
                     escaped(repository.revision));
}

std::optional<Verdict> verdict_of_hub(const ResponseHead& head, const HfRepository& repository, std::string_view page,
                                      bool has_token) {
  const std::string_view code = head.error_code;
  const std::string what = described(repository);
  if (head.status != 401 && head.status != 403 && head.status != 404) return std::nullopt;
  if (code == kGated) {
    const std::string_view check =
        has_token ? "check that the token in use is of that account and may read gated repositories" : kLogIn;
    return Verdict::refusal(fmt::format("the {} is gated: accept its conditions on {}, and {}", what, page, check));
  }
  if (code == kNoRevision) {
    return Verdict::refusal(
        fmt::format("the {} has no revision '{}'; check the branch, tag or commit", what, escaped(repository.revision)),
        ErrorKind::kNotFound);
  }
  if (code == kNoRepository || (head.status == 401 && !has_token)) {
    const std::string_view check = has_token ? "whether the token in use may read it" : kLogIn;
    return Verdict::refusal(fmt::format("there is no {}, or it is private: check its name, and {}", what, check),
                            ErrorKind::kNotFound);
  }
  if (head.status == 401) {
    return Verdict::refusal(
        "the hub does not accept the token (status 401); check HF_TOKEN, or log in again with 'hf auth login'");
  }
  if (head.status == 403) {
    const std::string_view check = has_token ? "check the permissions of the token in use" : kLogIn;
    return Verdict::refusal(fmt::format("the hub forbids access to the {} (status 403); {}", what, check));
  }
  return Verdict::refusal(no_entry_in(repository), ErrorKind::kNotFound);
}

HfDialect::HfDialect(HfRepository repository, const HfAccess& access)
    : repository_(std::move(repository)),
      page_(shown_url(hf_page_url(access.endpoint, repository_))),
      token_(access.token) {}

void HfDialect::add_fields(const HttpCall& /*call*/, std::vector<std::string>& lines) const {
  if (!token_.empty()) lines.push_back("Authorization: Bearer " + token_);
}

void HfDialect::explain(const HttpCall& call, const ResponseHead& head, std::string_view /*document*/,
                        Verdict& verdict) const {
  const std::string& place = call.progress.redirected;
  if (!place.empty() && origin_of(place) != origin_of(call.url)) {
    // The hub has the file, and names its place again, with another signature.
    if (head.status >= 400 && head.status < 500 && head.status != 412 && head.status != 416) {
      verdict = Verdict::again(fmt::format("the place where the hub keeps it refuses it (status {})", head.status));
    }
    return;
  }
  if (std::optional<Verdict> known = verdict_of_hub(head, repository_, page_, !token_.empty())) {
    verdict = *std::move(known);
  }
}

}  // namespace stoker
