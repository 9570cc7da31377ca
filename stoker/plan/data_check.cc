#include "stoker/plan/data_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/spelling.h"

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

/// A name that no sample has a field of is a mistake. (What stands for an image, or for a record, depends on the
/// sample.)
void check_fields(const Plan& plan, const Dataset& dataset) {
  const std::vector<std::string>& known = dataset.field_names();
  for (const std::string& name : plan.fields()) {
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (is_known || name == "image" || name == "record" || dataset.size() == 0) continue;
    const std::string nearest = nearest_name(name, known);
    const std::string said =
        fmt::format("the recipe reads the field '{}', which no sample has; the data set's fields are {}{}", name,
                    fmt::join(known, ", "), nearest.empty() ? "" : fmt::format("; is '{}' meant?", nearest));
    const std::vector<std::string>& optional = plan.optional_fields();
    const bool may_lack = std::find(optional.begin(), optional.end(), name) != optional.end();
    if (!may_lack) fail(ErrorKind::kUsage, "{}", said);
    log(LogLevel::kWarning, "{}", said);
  }
}

}  // namespace

void check_suits(const Plan& plan, const Dataset& dataset) {
  check_fields(plan, dataset);
  for (const ViewPlan& view : plan.views()) {
    if (view.kind == ViewKind::kTokens) check_tokens(plan, view, dataset);
  }
}

}  // namespace stoker
