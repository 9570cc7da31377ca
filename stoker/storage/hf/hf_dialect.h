// HTTP as the Hugging Face hub speaks it: with a token, and with reasons for what it refuses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/hf/hf_access.h"
#include "stoker/storage/hf/hf_path.h"
#include "stoker/storage/http/http_dialect.h"

namespace stoker {

/// Of the calls about one repository.
class HfDialect final : public HttpDialect {
 public:
  HfDialect(HfRepository repository, const HfAccess& access);

  void add_fields(const HttpCall& call, std::vector<std::string>& lines) const override;
  void explain(const HttpCall& call, const ResponseHead& head, std::string_view document,
               Verdict& verdict) const override;

 private:
  const HfRepository repository_;
  const std::string page_, token_;
};

/// What the hub's refusal means, and what to check; nothing where asking again may help, or nothing is known. `page`:
/// the repository's, for people.
std::optional<Verdict> verdict_of_hub(const ResponseHead& head, const HfRepository& repository, std::string_view page,
                                      bool has_token);

/// Whether the hub says that it has the repository and the revision, but not this path, which is not empty.
bool says_no_entry(const ResponseHead& head);
/// What to say then.
std::string no_entry_in(const HfRepository& repository);

}  // namespace stoker
