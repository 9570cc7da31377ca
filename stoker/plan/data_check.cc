#include "stoker/plan/data_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

/// A sequence has one token more than it has places: the last target.
void check_tokens(const Plan& plan, const ViewPlan& view, const Dataset& dataset) {
  const TokenOptions& options = view.tokens;
  const auto wanted = static_cast<std::uint64_t>(options.length);
  for (const std::uint64_t bytes : dataset.field_sizes(plan.fields()[static_cast<std::size_t>(view.field)])) {
    const std::uint64_t length = bytes / size_of(*options.type) - 1;
    const bool is_cut = length > wanted && options.longer != TokenOptions::Longer::kRefuse;
    if (length == wanted || is_cut) continue;
    fail(ErrorKind::kUsage,
         "view '{}': decode_tokens takes sequences of {} tokens, and the data are opened as sequences of {}; give both "
         "the same length",
         view.name, wanted, length);
  }
}

/// One that no sample has is a mistake.
void check_optional_fields(const Plan& plan, const Dataset& dataset) {
  const std::vector<std::string>& known = dataset.field_names();
  for (const std::string& name : plan.optional_fields()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fail(ErrorKind::kUsage, "the optional field '{}' is in no sample; the data set's fields are {}", name,
         fmt::join(known, ", "));
  }
}

}  // namespace

void check_suits(const Plan& plan, const Dataset& dataset) {
  check_optional_fields(plan, dataset);
  for (const ViewPlan& view : plan.views()) {
    if (view.kind == ViewKind::kTokens) check_tokens(plan, view, dataset);
  }
}

}  // namespace stoker
