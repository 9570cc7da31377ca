#include "python/bindings/call_arguments.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <utility>

#include "python/bindings/arguments.h"
#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// What PyTorch's DataLoader, and timm's and torchvision's training scripts, call otherwise.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"batch_size", "batch"},
    {"num_workers", "threads"},
    {"prefetch_factor", "prefetch"},
    {"num_replicas", "world"},
    {"drop_last", "tail"},
    {"shuffle", "order"},
    {"num_aug_repeats", "batch_repeats"},
    {"aug_repeats", "batch_repeats"},
    {"ra_reps", "batch_repeats"},
};

std::string hint_for(std::string_view name, const CallSignature& signature) {
  const auto plain = [](std::string_view text) {  // "batchSize" is "batch_size"
    std::string letters;
    for (const char c : text) {
      if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return letters;
  };
  for (const auto& [theirs, ours] : kElsewhere) {
    const bool here = std::find(signature.names.begin(), signature.names.end(), ours) != signature.names.end();
    if (plain(name) == plain(theirs) && here) return fmt::format(" (did you mean '{}'?)", ours);
  }
  std::vector<std::string> names = signature.names;
  for (const std::string& other : signature.torch_only) {
    if (name == other) return fmt::format("; stoker.torch.{} has this argument", signature.function);
    names.push_back(other);
  }
  return did_you_mean(name, names);
}

std::string known(const CallSignature& signature) {
  const auto first = signature.names.begin() + static_cast<std::ptrdiff_t>(signature.positional);
  return fmt::format("{}", fmt::join(first, signature.names.end(), ", "));
}

}  // namespace

CallArguments::CallArguments(const CallSignature& signature, const nb::args& positional, const nb::kwargs& named)
    : signature_(signature), values_(signature.names.size()) {
  if (positional.size() > signature.positional) {
    const auto first = signature.names.begin();
    const std::string in_order =
        fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(signature.positional), " and "));
    fail(ErrorKind::kUsage, "{} takes {} in order; give the others by name: {}", signature.function,
         in_order.empty() ? "nothing" : in_order, known(signature));
  }
  for (std::size_t i = 0; i < positional.size(); ++i) values_[i] = nb::borrow(positional[i]);
  for (const auto& [key, value] : named) set(shown_text(key), value);
  for (std::size_t i = 0; i < signature.positional; ++i) {
    if (!values_[i]) fail(ErrorKind::kUsage, "{} needs {}", signature.function, signature.names[i]);
  }
}

void CallArguments::set(std::string_view name, nb::handle value) {
  const std::size_t index = index_of(name);
  if (index == values_.size()) {
    const std::string hint = hint_for(name, signature_);
    fail(ErrorKind::kUsage, "{} has no argument '{}'{}", signature_.function, name,
         hint.empty() ? "; there are " + known(signature_) : hint);
  }
  if (values_[index]) fail(ErrorKind::kUsage, "{}: {} is given twice", signature_.function, name);
  values_[index] = nb::borrow(value);
}

nb::handle CallArguments::operator[](std::string_view name) const {
  const std::size_t index = index_of(name);
  assert(index < values_.size());
  return values_[index];
}

nb::handle CallArguments::unless_none(std::string_view name) const {
  const nb::handle value = (*this)[name];
  return value && value.is_none() ? nb::handle() : value;
}

std::size_t CallArguments::index_of(std::string_view name) const {
  const auto found = std::find(signature_.names.begin(), signature_.names.end(), name);
  return static_cast<std::size_t>(found - signature_.names.begin());
}

}  // namespace stoker::python
