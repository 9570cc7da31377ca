#include "stoker/plan/output_names.h"

#include <algorithm>
#include <array>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

// What a batch has in Python besides its outputs, which are attributes too; torch's is a tuple.
constexpr std::array<std::string_view, 11> kBatchAttributes = {
    "key", "position", "epoch", "index", "valid", "outputs", "errors", "random_seed", "record_stream", "count", "map"};

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

void check_not_reserved(std::string_view what, std::string_view name) {
  if (std::find(kBatchAttributes.begin(), kBatchAttributes.end(), name) != kBatchAttributes.end()) {
    fail(ErrorKind::kUsage, "{} cannot be named '{}': batch.{} has another meaning", what, name, name);
  }
}

}  // namespace stoker
